import type { Caller } from "../../engine/index.ts";
import { refusal } from "./authentication.ts";
import type { Authenticate, Credentials } from "./scheme.ts";

/** Everybody, where nobody is authenticated. */
export const ANYBODY: Caller = { tenant: "", principal: "" };

export async function callerOf(request: Credentials, authenticate: Authenticate): Promise<Caller> {
  const { method, path, query } = request;
  // A plain object, so that what it is given may be taken apart.
  const caller = await authenticate({
    method,
    path,
    query,
    header: (name) => request.header(name.toLowerCase()),
    certificate: () => request.certificate?.(),
  });
  if (!caller) throw refusal();
  return caller;
}
