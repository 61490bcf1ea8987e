import type { LogEvent, TaskEvent } from "../../protocol/index.ts";

/**
 * Writes an event as JSON when its first reader comes, and keeps the text for the others for as long as the event
 * itself is kept.
 */
export function oncePerEvent(write: (event: TaskEvent) => object): (event: LogEvent) => string {
  const written = new WeakMap<LogEvent, string>();
  return (event) => {
    let text = written.get(event);
    if (text === undefined) {
      text = JSON.stringify(write(event.event));
      written.set(event, text);
    }
    return text;
  };
}
