import { isObject, type JsonValue, type Part } from "../../../protocol/index.ts";
import { findQuestionInPart } from "../task/find-questions.ts";

/**
 * Describes the answer to an approval or to a form, as the page has sent it. `earlierParts` contain the question. Returns
 * `undefined` for other parts.
 */
export function describeAnswer(
  part: Part,
  earlierParts: readonly Part[],
  sender: string,
): string | undefined {
  if (!("data" in part) || !isObject(part.data)) return undefined;
  const { data } = part;
  const { approvalId } = data;
  if (typeof approvalId === "string") {
    const request = earlierParts.find(
      (one) => "data" in one && isObject(one.data) && one.data["approvalId"] === approvalId,
    );
    const toolName = request && "data" in request && isObject(request.data) && request.data["toolName"];
    return describeDecision(
      sender,
      typeof toolName === "string" ? toolName : "the request",
      data["approved"],
      data["reason"],
    );
  }
  const { name, response } = data;
  if (part.metadata?.["adk_type"] === "function_response" && typeof name === "string" && isObject(response)) {
    const decision = response["confirmed"] ?? response["approved"];
    if (typeof decision === "boolean") return describeDecision(sender, name, decision, response["reason"]);
    return `${sender} answered ${name}: ${formatFields(response)}`;
  }
  const values = Object.values(data);
  const hasForm = earlierParts.some((earlier, index) => findQuestionInPart(earlier, index)?.kind === "form");
  const isForm =
    hasForm && values.length > 0 && values.every((value) => !isObject(value) && !Array.isArray(value));
  return isForm ? `${sender} answered: ${formatFields(data)}` : undefined;
}

function describeDecision(sender: string, what: string, isApproved: unknown, reason: unknown): string {
  const verb = isApproved === true ? "approved" : "denied";
  return `${sender} ${verb} ${what}${typeof reason === "string" && reason !== "" ? `: ${reason}` : ""}`;
}

function formatFields(fields: Readonly<Record<string, JsonValue>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
