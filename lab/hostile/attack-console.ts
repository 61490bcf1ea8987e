import type { AttackTarget } from "./attack.ts";

/** Sends a POST request to the API of a console that the attacked server mounts, as the stranger. */
export function postToConsole(target: AttackTarget, path: string, body: string): Promise<Response> {
  return fetch(`${target.origin}/console/api/${path}`, {
    method: "POST",
    headers: {
      authorization: target.credentials.stranger,
      "content-type": "application/json",
      "x-colloquy-console": "1",
    },
    body,
    signal: target.signal,
  });
}
