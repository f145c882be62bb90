/* What is followed: a warp, a cell or a source line. */

/** Whether a dispatch is one of what is followed. */
function follows(player, dispatch) {
  const { data, model, view: { follow } } = player;
  if (!follow) return false;
  if (follow.kind === "warp") return data.dispatches.warp[dispatch] === follow.warp;
  if (follow.kind === "line") {
    const [name, line] = data.sites[data.dispatches.site[dispatch]];
    return line === follow.line && name === follow.function;
  }
  return data.dispatches.unit[dispatch] === follow.unit
    && lanesOf(model, dispatch).some((lane) => placeOf(model, dispatch, lane) === follow.place);
}

/** The name of what is followed. */
function followName(player, follow) {
  if (follow.kind === "warp") return `warp ${follow.warp}`;
  if (follow.kind === "line") return `line ${follow.line}`;
  const [array, copy, element] = player.panels[follow.unit].cells.get(follow.place);
  return `${elementName(player.data, array, copy, element)}, ${player.data.units[follow.unit].name} ${follow.place}`;
}

/** Fill the list of what can be followed. */
function buildFollow(player) {
  const options = player.part("follow");
  const nothing = make("option", "", "nothing");
  nothing.value = "";
  options.append(nothing);
  player.data.warps.slice(0, 500).forEach((_, warp) => {
    const option = make("option", "", `warp ${warp}`);
    option.value = JSON.stringify({ kind: "warp", warp });
    options.append(option);
  });
  options.addEventListener("change", () => {
    if (options.value) toggle(player, JSON.parse(options.value));
    else if (player.view.follow) toggle(player, player.view.follow);
  });
}

/** Follow something, or nothing if it is followed already. */
function toggle(player, follow) {
  const { view } = player;
  view.follow = JSON.stringify(follow) === JSON.stringify(view.follow) ? null : follow;
  if (view.follow?.kind === "warp" && warpOf(player.model, view.thread) !== view.follow.warp) {
    [view.thread] = player.data.warps[view.follow.warp];
  }
  findAccesses(player);
  const options = player.part("follow");
  options.querySelector("[data-other]")?.remove();
  const value = view.follow ? JSON.stringify(view.follow) : "";
  if (![...options.options].some((option) => option.value === value)) {
    const other = make("option", "", followName(player, view.follow));
    other.value = value;
    other.dataset.other = "";
    options.append(other);
  }
  options.value = value;
  draw(player);
}
