// How many sliders there are, and those without a name or words, or that keys do not lead
// to their ends and, by even steps, on.
() => {
  const sliders = [...document.querySelectorAll('.take[role="slider"]:not([hidden])')];
  const wrong = sliders.filter((slider) => {
    const root = slider.closest(".pe-explorer"), picture = root.querySelector(".picture");
    const put = (key) => {
      slider.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
      return Number(slider.ariaValueNow);
    };
    const low = put("Home"), first = picture.innerHTML, high = put("End");
    const changed = low < high && picture.innerHTML !== first;
    const up = ["ArrowRight", "ArrowDown"].find((key) => put("Home") < put(key));
    put("Home");
    const steps = [1, 2, 3, 4, 5].map(() => put(up)), last = 5 * steps[0] - 4 * low;
    const quiet = "lmSuppressShortcuts" in slider.dataset;
    root.querySelector("button:last-child").click();
    const even = steps[0] > low && Math.abs(steps[4] - Math.min(last, high)) < 0.01;
    return !(slider.ariaLabel && slider.ariaValueText && quiet && changed && even);
  });
  return [sliders.length, wrong.map(({ ariaLabel }) => ariaLabel)];
}
