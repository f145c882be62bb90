/* Space plays the player that is in sight, without a click into its frame, and does not scroll. */
document.addEventListener("keydown", (event) => {
  const taken = "input, textarea, select, button, a, summary, video, [contenteditable]";
  if (event.key !== " " || event.ctrlKey || event.metaKey || event.altKey || event.target.closest(taken)) return;
  const inSight = (frame) => {
    const { top, bottom } = frame.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  const frame = [...document.querySelectorAll("iframe.mmsim-player, iframe.mmsim-laboratory")].find(inSight);
  if (!frame) return;
  event.preventDefault();
  frame.contentWindow.postMessage({ mmsim: "play" }, "*");
});
