import type { FetchObserver } from "./lightweight-fetch.ts";
import type { Redactor } from "../observe/logging/index.ts";

/**
 * Creates an observer that logs the request, response, outcome, and duration of each HTTP exchange for
 * `--debug`. The logger redacts complete lines, because a credential may be split across two chunks.
 */
export function createDebugLogger(err: (text: string) => void, redactor: Redactor): FetchObserver {
  const began = performance.now();
  const decoder = new TextDecoder();
  let requestLine = "";
  let line = "";
  const log = (text: string): void => err(`debug: ${redactor.redactText(text)}\n`);
  const elapsedMs = (): number => Math.round(performance.now() - began);
  return {
    onRequest(method, url, headers, body) {
      requestLine = `${method} ${url.href}`;
      log(`> ${requestLine}`);
      for (const [name, value] of Object.entries(redactor.redactHeaders(Object.fromEntries(headers))))
        err(`debug: > ${name}: ${redactor.redactText(value)}\n`);
      if (body !== "") log(`> ${body}`);
    },
    onResponse(status, contentType) {
      log(`${requestLine}: ${status} in ${elapsedMs()} ms (${contentType})`);
    },
    onChunk(chunk) {
      const lines = (line + decoder.decode(chunk, { stream: true })).split("\n");
      line = lines.pop() ?? "";
      for (const completeLine of lines) if (completeLine !== "") log(`< ${completeLine}`);
    },
    onResponseEnd() {
      if (line !== "") log(`< ${line}`);
    },
    onError(error) {
      log(`${requestLine}: ${String(error)} in ${elapsedMs()} ms`);
    },
  };
}
