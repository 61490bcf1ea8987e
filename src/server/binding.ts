import type { Caller } from "../engine/index.ts";
import { A2AError, type OperationName, type Operations } from "../protocol/index.ts";
import {
  isPushOperation,
  negotiateVersion,
  v1,
  type PushOperationName,
  type SpecRevision,
} from "../wire/index.ts";
import type { HttpRequest } from "./exchange.ts";
import type { EventStreams, Told } from "./event-stream.ts";
import { perform, pushNotSupported, resumePoint, type Outcome } from "./operations.ts";
import type { ServedAgent } from "./served-agent.ts";

/** What the bindings need to answer a request. */
export interface BindingContext {
  readonly revision: SpecRevision;
  readonly missingVersion: "0.3" | "infer";
  readonly maxBodyBytes: number;
  readonly streams: EventStreams;
  readonly told: Told;
}

/** A request that has been let in: for which agent, and from whom. */
export interface Admitted {
  readonly request: HttpRequest;
  readonly agent: ServedAgent;
  readonly caller: Caller;
}

const JSON_TYPES = new Set(["application/json", "application/a2a+json"]);

/**
 * Refuses a body that is not declared as JSON. Not a formality: a browser sends other types to foreign servers without
 * asking them first.
 */
export function checkContentType(request: HttpRequest): void {
  const encoding = request.header("content-encoding");
  if (encoding !== undefined && encoding !== "identity") {
    throw new A2AError(
      "CONTENT_TYPE_NOT_SUPPORTED",
      `The request body is encoded as ${encoding}; send it as it is.`,
    );
  }
  const given = request.header("content-type");
  if (given === "application/json") return;
  const type = given?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== undefined && JSON_TYPES.has(type)) return;
  const is = given ? `is ${JSON.stringify(given.slice(0, 80))}` : "has no Content-Type";
  const text = `The request body ${is}; send "Content-Type: application/json".`;
  throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", text);
}

/** Refuses every protocol version but 1.0 (A2A §3.6.2). `shape`: the version that the request looks like. */
export function checkVersion(
  request: HttpRequest,
  { missingVersion }: BindingContext,
  shape: string | undefined,
): void {
  const header = request.header("a2a-version");
  if (header === "1.0") return;
  const query = request.query === "" ? null : new URLSearchParams(request.query).get("A2A-Version");
  negotiateVersion({
    header,
    query,
    supported: ["1.0"],
    missing: missingVersion,
    ...(shape === undefined ? {} : { shape }),
  });
}

/** Decodes the parameters and performs the operation: the part that all bindings share. Throws at once what is wrong. */
export function carryOut(
  { request, agent, caller }: Admitted,
  operation: OperationName | PushOperationName,
  params: unknown,
): Promise<Outcome> {
  if (isPushOperation(operation)) throw pushNotSupported();
  if (!STREAMING.has(operation))
    return perform(operation, agent.engine, decode(operation, params), caller, undefined);
  return checkStreaming(agent).then(() => {
    const resume = resumePoint(request.header("last-event-id"));
    return perform(operation, agent.engine, decode(operation, params), caller, resume);
  });
}

function decode<O extends OperationName>(operation: O, params: unknown): Operations[O]["params"] {
  const decoded = v1.decodeParams(operation, params);
  if ("message" in decoded && decoded.configuration?.taskPushNotificationConfig) throw pushNotSupported();
  return decoded;
}

const STREAMING: ReadonlySet<OperationName> = new Set(["SendStreamingMessage", "SubscribeToTask"]);

/** What the card does not offer is not done (A2A §3.3.4). */
async function checkStreaming({ card }: ServedAgent): Promise<void> {
  const { capabilities } = await card.description();
  if (capabilities?.streaming === false) {
    throw new A2AError(
      "UNSUPPORTED_OPERATION",
      "This agent does not stream (its card says so); use SendMessage and GetTask.",
    );
  }
}

/** Headers that a refusal carries beside its body. */
export function refusalHeaders({ reason, retryAfter }: A2AError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (reason === "UNAUTHENTICATED") headers["www-authenticate"] = 'Bearer realm="a2a"';
  if (retryAfter !== undefined) headers["retry-after"] = String(Math.ceil(retryAfter));
  return headers;
}
