import type { IncomingMessage } from "node:http";

/** Reads the body of `request` as UTF-8 and passes the body to `handle`, without a promise per request. */
export function readRequestText(request: IncomingMessage, handle: (text: string) => void): void {
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    text += chunk;
  });
  request.on("end", () => {
    handle(text);
  });
}
