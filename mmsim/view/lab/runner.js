/* Running in a worker: one run at a time, cancelled by the next. */

const DEAF_MS = 400; // after which a worker that says nothing is ended

/** A worker that answers: `ask` gives a promise of {known, result} or {fault}, which a later call or `cancel` leaves open. */
class Runner {
  constructor(text) {
    this.text = text;
    this.number = 0;
    this.busy = false;
    this.owed = false; // whether the worker may still be at a run that was cancelled
    this.worker = null;
  }

  /** Begin the worker; a page that may have none runs in its own thread. */
  begin() {
    try {
      this.address ??= URL.createObjectURL(new Blob([this.text, "\nserve(self);"], { type: "text/javascript" }));
      this.worker = new Worker(this.address);
      this.worker.onmessage = ({ data }) => this.heard(data);
      this.worker.onerror = ({ message }) => this.heard({ id: this.number, fault: { kind: "Error", text: message, message } });
    } catch {
      const script = make("script");
      script.textContent = `window.mmsimServe ??= (() => {${this.text}\nreturn serve; })();`;
      document.head.append(script);
      const scope = { postMessage: (data) => this.heard(data) };
      window.mmsimServe(scope);
      this.worker = { postMessage: (data) => setTimeout(() => scope.onmessage({ data })), terminate() {} };
    }
  }

  heard({ id, begun, progress, ...said }) {
    if (id !== this.number) return;
    this.owed = false;
    this.heardAt = performance.now();
    if (begun) return;
    if (progress !== undefined) {
      this.progress?.(progress);
      return;
    }
    this.busy = false;
    this.done(said);
  }

  ask(wanted, progress) {
    this.cancel();
    if (!this.worker) this.begin();
    this.busy = true;
    this.progress = progress;
    this.heardAt = performance.now();
    this.worker.postMessage({ id: this.number, ...wanted });
    clearTimeout(this.watch);
    if (this.owed) this.watch = setTimeout(() => this.beginAnew(wanted), DEAF_MS);
    return new Promise((done) => { this.done = done; });
  }

  /** Ask another worker, as this one is still at a run that was cancelled. */
  beginAnew(wanted) {
    if (!this.busy || !this.owed) return;
    this.end();
    this.begin();
    this.worker.postMessage({ id: this.number, ...wanted });
  }

  /** End the worker. */
  end() {
    this.worker.terminate();
    this.worker = null;
    this.owed = false;
  }

  /** End what runs; its promise stays open. */
  cancel() {
    this.number++;
    if (!this.busy) return;
    this.busy = false;
    if (performance.now() < this.heardAt + DEAF_MS) {
      this.worker.postMessage({ id: this.number });
      this.owed = true;
    } else this.end();
  }
}
