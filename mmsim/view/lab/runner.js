/* Running in a worker: one run at a time, cancelled by the next. */

/** A worker that answers: `ask(wanted, progress)` gives a promise, which a later call or `cancel` leaves open. */
class Runner {
  constructor(text) {
    this.text = text;
    this.number = 0;
    this.busy = false;
    this.worker = null;
  }

  /** Begin the worker; a page that may have none runs in its own thread. */
  begin() {
    const end = "onmessage = (event) => answer(event.data, postMessage);";
    try {
      this.address ??= URL.createObjectURL(new Blob([this.text, end], { type: "text/javascript" }));
      this.worker = new Worker(this.address);
      this.worker.onmessage = ({ data }) => this.heard(data);
      this.worker.onerror = (event) => this.heard({ id: this.number, fault: { kind: "Error", text: event.message, message: event.message } });
    } catch {
      const script = document.createElement("script");
      script.textContent = `{${this.text}; window.mmsimAnswer = answer;}`;
      document.head.append(script);
      this.worker = { postMessage: (data) => setTimeout(() => window.mmsimAnswer(data, (said) => this.heard(said))), terminate() {} };
    }
  }

  heard({ id, progress, ...said }) {
    if (id !== this.number) return;
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
    this.worker.postMessage({ id: ++this.number, ...wanted });
    return new Promise((done) => { this.done = done; });
  }

  /** End what runs; its promise stays open. */
  cancel() {
    this.number++;
    if (!this.busy) return;
    this.worker.terminate();
    this.worker = null;
    this.busy = false;
  }
}
