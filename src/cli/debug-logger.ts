import type { FetchObserver } from "./node-fetch.ts";
import { redactHeaders, type Redactor } from "./redactor.ts";

/**
 * Creates an observer that logs each exchange for `--debug`: request, response, outcome, and duration. It
 * redacts complete lines, so that a credential split across two chunks is redacted, too.
 */
export function createDebugLogger(err: (text: string) => void, redact: Redactor): FetchObserver {
  const began = performance.now();
  const decoder = new TextDecoder();
  let asked = "";
  let line = "";
  const say = (text: string): void => err(`debug: ${redact(text)}\n`);
  const took = (): number => Math.round(performance.now() - began);
  return {
    onRequest(method, url, headers, body) {
      asked = `${method} ${url.href}`;
      say(`> ${asked}`);
      for (const header of redactHeaders(headers)) say(`> ${header}`);
      if (body !== "") say(`> ${body}`);
    },
    onResponse(status, contentType) {
      say(`${asked}: ${status} in ${took()} ms (${contentType})`);
    },
    onChunk(chunk) {
      const lines = (line + decoder.decode(chunk, { stream: true })).split("\n");
      line = lines.pop() ?? "";
      for (const whole of lines) if (whole !== "") say(`< ${whole}`);
    },
    onEnd() {
      if (line !== "") say(`< ${line}`);
    },
    onError(error) {
      say(`${asked}: ${String(error)} in ${took()} ms`);
    },
  };
}
