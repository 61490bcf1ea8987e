import {
  ArtifactContentTracker,
  getText,
  isTerminal,
  listAnswerParts,
  type StreamResponse,
} from "../protocol/index.ts";

/**
 * Yields the text of an agent's answer as the text arrives, each piece once. Many agents repeat an entire
 * artifact in its last update, and `readText` removes the repetition. Text on a new line belongs to a further
 * artifact, or replaces earlier text.
 *
 * ```ts
 * for await (const text of readText(client.stream("Hello"))) process.stdout.write(text);
 * ```
 *
 * `readText` ignores the messages of statuses, for example progress, questions, and the reasons of failures, and the
 * reasoning of models. It also ignores text that the task contained before the stream began.
 */
export async function* readText(
  stream: AsyncIterable<StreamResponse>,
): AsyncGenerator<string, void, undefined> {
  const tracker = new ArtifactContentTracker();
  let hasEvents = false;
  let hasText = false;
  for await (const event of stream) {
    const isExistingContent = !hasEvents && "task" in event && !isTerminal(event.task.status.state);
    hasEvents = true;
    for (const { text, isContinuation } of listNewTexts(event, tracker)) {
      if (text === "" || isExistingContent) continue;
      yield hasText && !isContinuation ? `\n${text}` : text;
      hasText = true;
    }
  }
}

function listNewTexts(
  event: StreamResponse,
  tracker: ArtifactContentTracker,
): { text: string; isContinuation: boolean }[] {
  if ("message" in event) return [{ text: getText(listAnswerParts(event.message)), isContinuation: false }];
  if ("statusUpdate" in event) return [];
  const updates =
    "task" in event ? (event.task.artifacts ?? []).map((artifact) => ({ artifact })) : [event.artifactUpdate];
  return updates.map((update) => {
    const artifact = { ...update.artifact, parts: listAnswerParts(update.artifact) };
    const { parts, isContinuation } = tracker.addUpdate({ ...update, artifact });
    return { text: getText(parts), isContinuation };
  });
}
