import type { SessionReport, SessionReportEvent, SessionReportPart } from "../../../test/interop/adk/session-report.ts";

/** What a conversation left in the session of the caller, without ids, times, and the division into events. */
export interface SessionDigest {
  readonly turns: readonly TurnDigest[];
  readonly state: Readonly<Record<string, unknown>>;
  /** Base64 content by file name, from the artifact service of the caller. */
  readonly artifacts: Readonly<Record<string, string>>;
}

/** The events between two messages of the user. */
export interface TurnDigest {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[];
  readonly results: readonly { readonly name: string; readonly response: unknown }[];
  /** Base64 content of files by MIME type and name. */
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
  return {
    text: parts.map((part) => (part.thought === true ? "" : (part.text ?? ""))).join(""),
    calls: parts.flatMap(({ functionCall }) =>
      functionCall ? [{ name: functionCall.name ?? "", args: functionCall.args ?? {} }] : [],
    ),
    results: parts.flatMap(({ functionResponse }) =>
      functionResponse
        ? [{ name: functionResponse.name ?? "", response: functionResponse.response ?? {} }]
        : [],
    ),
    files: parts.flatMap(({ inlineData, fileData }) => {
      if (inlineData) return [`${inlineData.mimeType} ${inlineData.displayName ?? ""} ${toStandardBase64(inlineData.data)}`];
      return fileData ? [`${fileData.mimeType} ${fileData.fileUri}`] : [];
    }),
    isFailed: events.some(({ errorCode, errorMessage }) => Boolean(errorCode ?? errorMessage)),
    emptyParts: parts.filter(isEmptyPart).length,
  };
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
