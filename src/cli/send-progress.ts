import type { StreamResponse } from "../protocol/index.ts";
import type { CliContext } from "./cli-context.ts";
import type { OutputWriter } from "./output-writer.ts";

/**
 * Shows the progress of a turn while `send` waits for its result. The ids of the task appear at once, so that the user
 * can continue after an interruption. A terminal also shows the last status, which the result replaces.
 */
export class SendProgress {
  readonly #output: OutputWriter;
  readonly #context: CliContext;
  #isLineOpen = false;

  constructor(output: OutputWriter, context: CliContext) {
    this.#output = output;
    this.#context = context;
  }

  show(event: StreamResponse): void {
    if ("task" in event) this.#output.announceTask(event.task);
    const { stderrColumns, streams } = this.#context;
    const text = stderrColumns === undefined ? undefined : describeProgress(event);
    if (text === undefined || stderrColumns === undefined) return;
    // Some terminals have an unknown width, which is 0.
    streams.errReplacingLine(text.replaceAll(/\s+/g, " ").slice(0, (stderrColumns || 80) - 1));
    this.#isLineOpen = true;
  }

  /** Removes the status from the terminal. */
  end(): void {
    if (this.#isLineOpen) this.#context.streams.errReplacingLine("");
    this.#isLineOpen = false;
  }
}

function describeProgress(event: StreamResponse): string | undefined {
  if ("artifactUpdate" in event) {
    const { name, artifactId } = event.artifactUpdate.artifact;
    return `receives ${name ?? artifactId}`;
  }
  if (!("task" in event) && !("statusUpdate" in event)) return undefined;
  const { state, message } = "task" in event ? event.task.status : event.statusUpdate.status;
  const [text] = (message?.parts ?? []).flatMap((part) => ("text" in part ? [part.text] : []));
  const name = state.replace("TASK_STATE_", "").toLowerCase();
  return text === undefined ? name : `${name}: ${text}`;
}
