import { isArtifactEventText } from "./to-log-rows.ts";

/**
 * Selects the stored events that a task without its artifacts depends on. The function omits artifact events, and
 * omits a status that a later status replaces without a trace. It parses nothing, because parsing is the largest part
 * of the cost of a task list.
 */
export function selectListedEvents(eventTexts: readonly string[]): string[] {
  const selected: string[] = [];
  for (const text of eventTexts) {
    if (isArtifactEventText(text)) continue;
    const previous = selected.at(-1);
    if (previous !== undefined && isStatusUpdateText(text) && isPlainStatusUpdateText(previous))
      selected.pop();
    selected.push(text);
  }
  return selected;
}

function isStatusUpdateText(eventText: string): boolean {
  return eventText.startsWith('{"statusUpdate"');
}

/** Returns true if a status update has neither a message nor metadata, which outlast the status. */
function isPlainStatusUpdateText(eventText: string): boolean {
  return (
    isStatusUpdateText(eventText) && !eventText.includes('"message"') && !eventText.includes('"metadata"')
  );
}
