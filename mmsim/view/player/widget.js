/* The widget: the same player, with a model whose `data` and `time` the kernel shares. */

export default {
  render({ model, el }) {
    const host = document.createElement("div");
    host.dataset.lmSuppressShortcuts = "true"; // JupyterLab: the keys are the player's
    const light = document.body.dataset.jpThemeLight;
    if (light) host.dataset.theme = light === "true" ? "light" : "dark";
    host.style.setProperty("--height", "{{HEIGHT}}");
    el.append(host);
    const player = mount(host, model.get("data"), {
      time: model.get("time"),
      embedded: true,
      moved(time) {
        if (time === model.get("time")) return;
        model.set("time", time);
        model.save_changes();
      },
    });
    const follow = () => model.get("time") !== player.time && player.go(model.get("time"));
    model.on("change:time", follow);
    return () => {
      model.off("change:time", follow);
      player.close();
    };
  },
};
