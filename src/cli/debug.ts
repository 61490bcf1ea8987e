import type { Watcher } from "./node-fetch.ts";
import { shownHeaders, type Redact } from "./redact.ts";

/**
 * What `--debug` shows of each exchange: the request and the answer as they are on the wire, how it ended, how long that
 * took. All of it passes `redact`, a line at a time, so that nothing hides in the gap between two chunks.
 */
export function debugWatcher(err: (text: string) => void, redact: Redact): Watcher {
  const began = performance.now();
  const decoder = new TextDecoder();
  let asked = "";
  let line = "";
  const say = (text: string): void => err(`debug: ${redact(text)}\n`);
  const took = (): number => Math.round(performance.now() - began);
  return {
    asks(method, url, headers, body) {
      asked = `${method} ${url.href}`;
      say(`> ${asked}`);
      for (const header of shownHeaders(headers)) say(`> ${header}`);
      if (body !== "") say(`> ${body}`);
    },
    answers(status, contentType) {
      say(`${asked}: ${status} in ${took()} ms (${contentType})`);
    },
    says(chunk) {
      const lines = (line + decoder.decode(chunk, { stream: true })).split("\n");
      line = lines.pop() ?? "";
      for (const whole of lines) if (whole !== "") say(`< ${whole}`);
    },
    ends() {
      if (line !== "") say(`< ${line}`);
    },
    fails(error) {
      say(`${asked}: ${String(error)} in ${took()} ms`);
    },
  };
}
