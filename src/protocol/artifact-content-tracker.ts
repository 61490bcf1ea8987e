import type { TaskArtifactUpdateEvent } from "./event.ts";
import { appendPartJoiningText } from "./fold.ts";
import { isSameJson } from "./json.ts";
import type { Part } from "./message.ts";
import type { Task } from "./task.ts";

/** The content of an artifact update that the reader of a stream has not received before. */
export interface NewArtifactContent {
  readonly parts: readonly Part[];
  /**
   * True if the content continues the artifact's earlier content. False if the content begins an artifact or
   * replaces different content, and therefore belongs on a new line.
   */
  readonly isContinuation: boolean;
}

/**
 * Removes repeated content from the artifact updates of a stream, for readers that print content as it
 * arrives. Many agents repeat the entire artifact in its last update. If an update without `append` starts
 * with the known content, only the rest is new. If the known content differs, the entire update is new.
 */
export class ArtifactContentTracker {
  readonly #partsByArtifactId = new Map<string, Part[]>();

  /** Marks the artifacts of a task as known, for example those of the snapshot at the start of a stream. */
  addKnownArtifacts({ artifacts = [] }: Task): void {
    for (const artifact of artifacts) this.addUpdate({ artifact });
  }

  /** Adds an artifact update, and returns the content that no earlier update contained. */
  addUpdate({
    artifact: { artifactId, parts },
    append = false,
  }: Pick<TaskArtifactUpdateEvent, "artifact" | "append">): NewArtifactContent {
    const known = this.#partsByArtifactId.get(artifactId);
    if (known && append) {
      for (const part of parts) appendPartJoiningText(known, part);
      return { parts, isContinuation: true };
    }
    const newParts = known && computeNewParts(known, parts);
    this.#partsByArtifactId.set(artifactId, parts.slice());
    return { parts: newParts ?? parts, isContinuation: newParts !== undefined };
  }
}

/**
 * Returns the parts that follow `known` in `whole`, or `undefined` if `whole` does not start with `known`.
 * Texts are compared without metadata and across the boundaries of adjacent parts.
 */
export function computeNewParts(known: readonly Part[], whole: readonly Part[]): Part[] | undefined {
  // The remaining parts in reverse order: removing the first element of a long array would take linear time.
  const rest = whole.filter((part) => !("text" in part) || part.text !== "").toReversed();
  for (const part of known) {
    let expected = "text" in part ? part.text : undefined;
    while (expected !== "") {
      const next = rest.pop();
      if (!next) return undefined;
      if (expected === undefined || !("text" in next)) {
        if (expected !== undefined || !isSameJson(next, part)) return undefined;
        break;
      }
      if (expected.startsWith(next.text)) expected = expected.slice(next.text.length);
      else if (next.text.startsWith(expected)) {
        rest.push({ ...next, text: next.text.slice(expected.length) });
        expected = "";
      } else return undefined;
    }
  }
  return rest.toReversed();
}

/**
 * The form in which a streamed artifact ends. With `whole`, the last chunk repeats the entire content and
 * replaces the earlier chunks (`append: false`, `lastChunk: true`), as in the servers of ADK. With `pieces`,
 * the last chunk adds the remaining content (`append: true`, `lastChunk: true`).
 *
 * In both forms, a client that applies `append` as A2A defines ends with the content exactly once. ADK for
 * Python stores only the last chunk and therefore needs `whole`. Clients that join the text of all chunks
 * need `pieces`.
 */
export type ArtifactEnding = "whole" | "pieces";

/**
 * Splits the last piece off a list of parts, so that the last chunk of an artifact is not empty. The last
 * piece is the last character of a text, or an entire part of another kind. A character is a Unicode code
 * point, so surrogate pairs stay together.
 */
export function splitLastPiece(parts: readonly Part[]): [rest: Part[], lastPiece: Part[]] {
  const last = parts.at(-1);
  if (!last) return [[], []];
  const rest = parts.slice(0, -1);
  if (!("text" in last)) return [rest, [last]];
  const isPair = /[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(last.text);
  const at = last.text.length - (isPair ? 2 : 1);
  if (at > 0) rest.push({ ...last, text: last.text.slice(0, at) });
  return [rest, [{ ...last, text: last.text.slice(at) }]];
}
