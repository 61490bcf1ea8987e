import type { ServerResponse } from "node:http";

/** Names of the statuses of `google.rpc.Status`, which the HTTP+JSON binding of A2A uses for errors. */
const STATUS_NAMES: ReadonlyMap<number, string> = new Map([
  [429, "RESOURCE_EXHAUSTED"],
  [500, "INTERNAL"],
  [501, "UNIMPLEMENTED"],
  [502, "UNAVAILABLE"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
]);

/** Sends an error response of the tap itself. */
export function sendProblem(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const error = { code: status, status: STATUS_NAMES.get(status) ?? "UNKNOWN", message };
  const body = JSON.stringify({ error });
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "cache-control": "no-store",
    ...headers,
  });
  response.end(body);
}
