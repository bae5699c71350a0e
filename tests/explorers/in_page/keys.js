// Of each slider of the page what it is called, and its value after the keys that move it.
() => [...document.querySelectorAll('.take[role="slider"]:not([hidden])')].map((slider) => {
  const root = slider.closest(".pe-explorer"), drawn = () => root.querySelector(".picture").innerHTML;
  const put = (key) => {
    slider.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
    return Number(slider.getAttribute("aria-valuenow"));
  };
  const low = put("Home"), first = drawn(), high = put("End"), changed = drawn() !== first;
  const step = ["ArrowRight", "ArrowDown"].toSorted((a, b) => (put("Home"), put(b)) - (put("Home"), put(a)))[0];
  put("Home");
  const steps = [1, 2, 3, 4, 5].map(() => put(step)), said = slider.getAttribute("aria-valuetext");
  root.querySelector("button:last-child").click();
  return { name: slider.getAttribute("aria-label"), quiet: "lmSuppressShortcuts" in slider.dataset, low, high, changed, steps, said };
})
