/* What is followed: a warp, a cell or a source line. */

/** Whether a dispatch of a launch is one of what is followed. */
function follows({ data, model }, follow, dispatch) {
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
  const { name } = player.data.units[follow.unit];
  const cell = panelOf(player, follow.unit)?.cells.get(follow.place);
  return cell ? `${elementName(player.data, ...cell)}, ${name} ${follow.place}` : `${name} ${follow.place}`;
}

/** What another player follows when this one follows something: the same warp, line or element. */
function counterpart(player, other, follow) {
  if (player === other || follow?.kind !== "cell") return follow;
  const cell = panelOf(player, follow.unit)?.cells.get(follow.place);
  if (!cell) return null;
  const [array, copy, element] = cell;
  const own = other.data.arrays.findIndex((one) => one.name === player.data.arrays[array].name);
  const address = own < 0 ? undefined : other.model.addresses[own][copy]?.[element];
  if (address === undefined) return null;
  return { kind: "cell", unit: other.data.arrays[own].units[copy], place: placeIn(other.data, own, address) };
}

/** Fill the list of what can be followed. */
function offerFollow(stage) {
  const options = stage.part("follow");
  if (!options.length) options.append(make("option", "", "nothing"));
  options.options[0].value = "";
  options.querySelector("[data-other]")?.remove();
  const warps = Math.min(500, Math.max(...stage.launches.map(({ data }) => data.warps.length)));
  options.length = Math.min(options.length, warps + 1);
  for (let warp = options.length - 1; warp < warps; warp++) {
    const option = make("option", "", `warp ${warp}`);
    option.value = JSON.stringify({ kind: "warp", warp });
    options.append(option);
  }
}

/** Follow something, or nothing if it is followed already. */
function toggle(player, what) {
  follow(player, JSON.stringify(what) === JSON.stringify(player.view.follow) ? null : what);
}

/** Follow something, or nothing (null); the other players of the page follow the same. */
function follow(player, what) {
  const { stage } = player;
  for (const one of stage.players) {
    one.view.follow = counterpart(player, one, what);
    if (what?.kind === "warp" && what.warp < one.data.warps.length && warpOf(one.model, one.view.thread) !== what.warp) {
      [one.view.thread] = one.data.warps[what.warp];
    }
  }
  stage.times.access = null;
  const options = stage.part("follow");
  options.querySelector("[data-other]")?.remove();
  const value = what ? JSON.stringify(what) : "";
  if (![...options.options].some((option) => option.value === value)) {
    const other = make("option", "", followName(player, what));
    other.value = value;
    other.dataset.other = "";
    options.append(other);
  }
  options.value = value;
  draw(stage);
}
