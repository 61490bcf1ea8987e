import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { randomBytes } from "node:crypto";
import { isSameSecret } from "../../base/data-structures/index.ts";
import { findHostRefusal, isObject } from "../../protocol/index.ts";
import type { ActiveFaultRule, FaultSwitches } from "./faults/fault-switches.ts";
import { sendProblem } from "./http/send-problem.ts";

/** The HTTP API that changes the faults of a running tap. It listens on loopback only. */
export interface TapControl {
  /** URL of the API, such as `http://127.0.0.1:41234/tap/`. */
  readonly url: string;
  /** Bearer token that each request needs. A new token is generated at each start. */
  readonly token: string;
  close(): Promise<void>;
}

/** A fault rule in the responses of the API. */
export interface FaultRuleJson {
  readonly id: string;
  /** The text of the rule, such as `cut:after=3`. */
  readonly fault: string;
  readonly matchedCalls: number;
  readonly affectedCalls: number;
}

/** Status of the tap in the responses of the API. */
export interface TapStatusJson {
  readonly targets: readonly { readonly name?: string; readonly url: string; readonly target: string }[];
  readonly faults: readonly FaultRuleJson[];
}

const MAX_BODY_BYTES = 4_096;

/** Starts the control API on a free port of 127.0.0.1. */
export async function startTapControl(
  switches: FaultSwitches,
  targets: TapStatusJson["targets"],
): Promise<TapControl> {
  const token = randomBytes(24).toString("base64url");
  const server = createServer((request, response) => {
    handle(request, response, token, switches, targets).catch((error: unknown) => {
      sendProblem(response, 400, error instanceof Error ? error.message : String(error));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/tap/`, token, close: () => closeControl(server) };
}

async function closeControl(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  token: string,
  switches: FaultSwitches,
  targets: TapStatusJson["targets"],
): Promise<void> {
  // A web page that rebinds its host name to loopback has another host, and knows no token.
  if (findHostRefusal(request.headersDistinct["host"], "127.0.0.1") !== undefined)
    return sendProblem(response, 403, "The control API accepts only loopback hosts.");
  if (!isSameSecret(request.headers.authorization ?? "", `Bearer ${token}`))
    return sendProblem(response, 401, "Send the token of the tap: Authorization: Bearer TOKEN.", {
      "www-authenticate": "Bearer",
    });
  const { method = "GET", url: path = "" } = request;
  const list = (): FaultRuleJson[] => switches.list().map(toFaultRuleJson);
  const [, id] = /^\/tap\/faults\/(\d+)$/.exec(path) ?? [];
  if (method === "GET" && path === "/tap/") return sendJson(response, 200, { targets, faults: list() });
  if (method === "GET" && path === "/tap/faults") return sendJson(response, 200, { faults: list() });
  if (method === "POST" && path === "/tap/faults") {
    const fault = await readFault(request);
    return sendJson(response, 201, toFaultRuleJson(switches.add(fault)));
  }
  if (method === "DELETE" && path === "/tap/faults") {
    switches.removeAll();
    return sendJson(response, 200, { faults: [] });
  }
  if (method === "DELETE" && id !== undefined) {
    if (switches.remove(id)) return sendJson(response, 200, { faults: list() });
    return sendProblem(response, 404, `No fault has the id ${id}. GET /tap/faults lists the faults.`);
  }
  sendProblem(response, 404, `The control API has no ${method} ${path}. It has /tap/ and /tap/faults.`);
}

async function readFault(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request as AsyncIterable<Buffer>) {
    text += chunk.toString("utf8");
    if (text.length > MAX_BODY_BYTES) throw new Error(`The body is longer than ${MAX_BODY_BYTES} bytes.`);
  }
  const json: unknown = JSON.parse(text);
  if (isObject(json) && typeof json["fault"] === "string") return json["fault"];
  throw new Error('Send a rule as JSON, such as {"fault":"cut:after=3"}.');
}

function toFaultRuleJson({ id, rule, matchedCalls, affectedCalls }: ActiveFaultRule): FaultRuleJson {
  return { id, fault: rule.text, matchedCalls, affectedCalls };
}

function sendJson(response: ServerResponse, status: number, json: object): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(json));
}
