// Search runs in a worker, which browsers refuse to pages that are opened from a folder (file://).
// There, a hidden frame does the work of the worker instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      this.inside = inside;
      this.waiting = [];
      // What a worker posts goes to the page.
      inside.postToWorker = inside.postMessage.bind(inside);
      inside.postMessage = (message) => window.postMessage({ worker: url, message }, "*");
      const script = inside.document.createElement("script");
      script.src = url;
      script.onload = () => {
        this.ready = true;
        this.waiting.splice(0).forEach((message) => this.postMessage(message));
      };
      inside.document.body.appendChild(script);
      window.addEventListener("message", ({ data }) => {
        if (data && data.worker === url) {
          const event = new MessageEvent("message", { data: data.message });
          this.dispatchEvent(event);
          if (this.onmessage) this.onmessage(event);
        }
      });
    }
    postMessage(message) {
      if (this.ready) this.inside.postToWorker(message, "*");
      else this.waiting.push(message);
    }
    terminate() {}
  };
}
