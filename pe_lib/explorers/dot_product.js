// The dot product of two encodings against their offset, and where it first rises.
{
  const WIDTHS = [2, 4, 8, 16, 32, 64, 128, 256, 512], BASES = [2, 4, 16, 100, 256, 1000, 10000, 100000, 1000000];
  const share = (k, d, base) => sum(frequencies(d / 2, base).map((w) => Math.cos(k * w))) / (d / 2);
  const firstRise = (d, base) => {
    let k = 0;
    for (let now = share(0, d, base), next; (next = share(k + 1, d, base)) <= now; now = next) k++;
    return k;
  };
  let rises;  // of all settings, once it is asked for
  const place = (k, x) => [50 + 5 * k, 130 - 100 * x];
  drawings.dot_product = {
    size: [600, 500],
    alt: "A curve: the dot product of two encodings, as a share of its largest value, against their offset from 0 to 100. A dot marks where it first rises. Below are two lines, for the width and the base.",
    goal: "Drag the dot, the first rise, as far right as it goes.",
    reward: "<b>43.</b> No pair of settings here gets further. More numbers help; a larger base does not always: with 1,000,000 the first rise is back at 24.",
    start: { d_model: 64, base: 10000 },
    view({ d_model, base }) {
      const shares = range(101).map((k) => share(k, d_model, base)), k = firstRise(d_model, base);
      const times = range(100).filter((i) => shares[i + 1] > shares[i]).length;
      return {
        svg: [["1", 1], ["0", 0], ["−1", -1]].map(([name, x]) => path("hair", `M50 ${130 - 100 * x}H550`) + text(22, 137 - 100 * x, name, "count")).join("") +
          range(5).map((i) => text(50 + 125 * i, 262, 25 * i, "count")).join("") +
          path("curve", line(shares.map((x, i) => place(i, x)))) + circle("solid rise", 8, ...place(k, shares[k])) +
          stops(60, 350, 480, WIDTHS, "numbers, d") + stops(60, 450, 480, ["2", "4", "16", "100", "256", "10³", "10⁴", "10⁵", "10⁶"], "base"),
        sentence: `${d_model} numbers, base ${base.toLocaleString("en")}: first rises from offset ${k} to ${k + 1}. Rises ${times} times in 100.`,
        reached: k === 43,
      };
    },
    handles({ d_model, base }) {
      const k = firstRise(d_model, base);
      const [x, y] = place(k, share(k, d_model, base));
      return [
        {
          label: "The first rise", text: `offset ${k}`, x, y, value: k, low: 1, high: 43, step: 1, along: [5, 0],
          // Of all settings the one whose dot is nearest, and of these the most alike.
          set(to) {
            rises ??= WIDTHS.flatMap((d, i) => BASES.map((base, j) => [firstRise(d, base), d, base, i, j]));
            const [i, j] = [WIDTHS.indexOf(d_model), BASES.indexOf(base)];
            const away = ([k, , , m, n]) => Math.abs(k - to) + (Math.abs(m - i) + Math.abs(n - j)) / 100;
            const ways = rises.filter(([r]) => Math.sign(r - k) === Math.sign(Math.round(to) - k));
            const [, d, best] = ways.reduce((a, b) => (away(b) < away(a) ? b : a), [k, d_model, base, Infinity, 0]);
            return { d_model: d, base: best };
          },
        },
        stop(60, 350, 480, WIDTHS, d_model, "Numbers, d", (d) => ({ d_model: d })),
        stop(60, 450, 480, BASES, base, "Base", (to) => ({ base: to }), (x) => x.toLocaleString("en")),
      ];
    },
  };
}
