import type { SessionReport, SessionReportEvent, SessionReportPart } from "../programs/adk/session-report.ts";

/** What a conversation left in the session of the caller, without ids, times, and the division into events. */
export interface SessionDigest {
  readonly turns: readonly TurnDigest[];
  readonly state: Readonly<Record<string, unknown>>;
  /** Base64 content by file name, from the artifact service of the caller. */
  readonly artifacts: Readonly<Record<string, string>>;
}

/** The events between two messages of the user. */
export interface TurnDigest {
  /**
   * The text and the questions. The stand-ins of ADK ask with a placeholder call if the remote agent asks
   * without a call. The digest replaces a placeholder call by its question.
   */
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[];
  readonly results: readonly { readonly name: string; readonly response: unknown }[];
  /** MIME type, name, and base64 content of each file. A data part is a file, too. */
  readonly files: readonly string[];
  readonly isFailed: boolean;
  /** Number of parts without any content. */
  readonly emptyParts: number;
}

/** Reduces a session to the facts that must not depend on the network between caller and agent. */
export function digestSession({ events, state, artifacts }: SessionReport): SessionDigest {
  const turns: SessionReportEvent[][] = [];
  for (const event of events) {
    if (event.author === "user") turns.push([]);
    else if (event.partial !== true) turns.at(-1)?.push(event);
  }
  return {
    turns: turns.map(digestTurn),
    state,
    artifacts: Object.fromEntries(
      Object.entries(artifacts).map(([name, part]) => [name, part.inlineData?.data ?? part.text ?? ""]),
    ),
  };
}

function digestTurn(events: readonly SessionReportEvent[]): TurnDigest {
  const parts = events.flatMap(({ content }) => content?.parts ?? []);
  // Some event of an error repeats the error message as text.
  const answered = events
    .filter((event) => !isErrorEvent(event))
    .flatMap(({ content }) => content?.parts ?? []);
  return {
    text: answered.map(getPartText).join(""),
    calls: parts.flatMap(({ functionCall }) =>
      functionCall && getQuestion(functionCall) === undefined
        ? [{ name: functionCall.name ?? "", args: functionCall.args ?? {} }]
        : [],
    ),
    results: parts.flatMap(({ functionResponse }) =>
      functionResponse
        ? [{ name: functionResponse.name ?? "", response: functionResponse.response ?? {} }]
        : [],
    ),
    files: parts.flatMap((part) => digestFile(part) ?? []),
    isFailed: events.some(isErrorEvent),
    emptyParts: parts.filter(isEmptyPart).length,
  };
}

function isErrorEvent({ errorCode, errorMessage }: SessionReportEvent): boolean {
  return Boolean(errorCode ?? errorMessage);
}

function getPartText({ text, thought, functionCall }: SessionReportPart): string {
  if (thought === true) return "";
  return text ?? (functionCall ? getQuestion(functionCall) : undefined) ?? "";
}

/** Returns the question of a placeholder call. */
function getQuestion({
  name = "",
  args = {},
}: NonNullable<SessionReportPart["functionCall"]>): string | undefined {
  if (!name.startsWith("mock_function_call_for_required_user_")) return undefined;
  return Object.values(args).join(" ");
}

function digestFile({ inlineData, fileData }: SessionReportPart): string | undefined {
  if (fileData) return `${fileData.mimeType} ${fileData.fileUri}`;
  if (!inlineData) return undefined;
  const { mimeType = "", displayName = "" } = inlineData;
  const data = toStandardBase64(inlineData.data);
  // ADK wraps a data part in a text file. The spaces of the JSON differ between the languages.
  const wrapped = /^<a2a_datapart_json>(.*)<\/a2a_datapart_json>$/s.exec(
    Buffer.from(data, "base64").toString(),
  );
  if (mimeType === "text/plain" && wrapped) return `data ${stableStringify(JSON.parse(wrapped[1] ?? ""))}`;
  return `${mimeType} ${displayName} ${data}`;
}

/** Python writes bytes as URL-safe base64. */
function toStandardBase64(data = ""): string {
  return data.replaceAll("-", "+").replaceAll("_", "/");
}

function isEmptyPart(part: SessionReportPart): boolean {
  const { text, thought: _, ...others } = part;
  const hasOther = Object.values(others).some((value) => value !== undefined && value !== null);
  return !hasOther && (text === undefined || text === null || text === "");
}

/** Returns the differences between two digests, such as `turn 1: text "a" instead of "b"`. */
export function listDigestDifferences(actual: SessionDigest, wanted: SessionDigest): string[] {
  const differences: string[] = [];
  const compare = (where: string, left: unknown, right: unknown): void => {
    const [one, other] = [stableStringify(left), stableStringify(right)];
    if (one !== other) differences.push(`${where} ${one} instead of ${other}`);
  };
  compare("turns", actual.turns.length, wanted.turns.length);
  for (const [index, turn] of wanted.turns.entries()) {
    const met = actual.turns[index];
    if (!met) continue;
    for (const key of Object.keys(turn) as (keyof TurnDigest)[]) {
      compare(`turn ${index + 1}: ${key}`, met[key], turn[key]);
    }
  }
  compare("state", actual.state, wanted.state);
  compare("artifacts", actual.artifacts, wanted.artifacts);
  return differences;
}

/** JSON with sorted keys. */
function stableStringify(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    member !== null && typeof member === "object" && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
