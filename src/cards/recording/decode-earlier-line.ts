import { omitUndefined } from "../../base/usage-checks/index.ts";
import { decodeTrafficLineJson, type TrafficLine } from "../../observe/trace/index.ts";
import { isObject, type JsonObject } from "../../protocol/index.ts";

/** Kinds of lines in records of versions before 0.2, which were no traffic records. */
const EARLIER_KINDS: ReadonlySet<unknown> = new Set(["run", "card", "call", "score", "skip", "end"]);

/**
 * Decodes a line of a record of card runs from before such records were traffic records. Returns `undefined` for a line
 * of another format.
 */
export function decodeEarlierLine(json: JsonObject): TrafficLine | { readonly torn: string } | undefined {
  if (json["v"] !== 1 || !EARLIER_KINDS.has(json["kind"])) return undefined;
  const decoded = decodeTrafficLineJson({
    writer: "earlier",
    seq: 0,
    mono_ms: 0,
    ...(json["kind"] === "card"
      ? convertCardLine(json)
      : json["kind"] === "call"
        ? convertCallLine(json)
        : json),
  });
  if (decoded.type === "traffic") return decoded.line;
  return { torn: decoded.type === "unreadable" ? decoded.reason : "the line is not a line of a record" };
}

function convertCardLine({ at_role, dir: _dir, a2a, ...line }: JsonObject): object {
  const { task_id, context_id } = isObject(a2a) ? a2a : {};
  return {
    ...line,
    agent: at_role,
    ...omitUndefined({ task_id, context_id }),
  };
}

function convertCallLine({ role, card_id, usage, finish, ...line }: JsonObject): object {
  const { source, ...tokens } = isObject(usage) ? usage : { source: "none" };
  return {
    ...line,
    kind: "model",
    call: card_id,
    agent: role,
    message_id: card_id,
    finish_reason: finish,
    ...(source !== "none" && tokens),
    ...(source === "estimated" && { tokens_estimated: true }),
  };
}
