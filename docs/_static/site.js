/* What scrolls sideways can be reached, and scrolled, by the keyboard. */
(() => {
  const wide = "pre, math, div.math, table, .table-wrapper, .text_html, .cell_output > div";
  const mark = () => {
    for (const one of document.querySelectorAll(wide)) {
      const scrolls = one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX !== "visible";
      if (scrolls) one.tabIndex = 0;
      else one.removeAttribute("tabindex");
    }
  };
  addEventListener("load", mark);
  addEventListener("resize", mark);
})();

/* A link to a proof unfolds it. */
(() => {
  const unfold = () => {
    const one = document.getElementById(location.hash.slice(1));
    if (one instanceof HTMLDetailsElement) one.open = true;
  };
  addEventListener("hashchange", unfold);
  addEventListener("load", unfold);
})();
