import {
  A2AError,
  ArtifactContentTracker,
  isInterrupted,
  isTerminal,
  isThought,
  type Artifact,
  type Part,
  type StreamResponse,
  type Task,
  type TaskState,
  type TaskStatus,
} from "../../protocol/index.ts";
import { renderDataAsText, renderPartsAsText } from "./chat-parts.ts";

/**
 * Maximum length of one answer in characters. Without a maximum, the answer of a faulty agent might never
 * end.
 */
const MAX_ANSWER_LENGTH = 16 * 2 ** 20;

/** Default error messages for tasks that ended unsuccessfully. */
const FAILURE_TEXTS: { readonly [State in TaskState]?: string } = {
  TASK_STATE_FAILED: "The agent failed.",
  TASK_STATE_REJECTED: "The agent rejected the task.",
  TASK_STATE_CANCELED: "The task was canceled.",
};

const INTERRUPTION_TEXTS: { readonly [State in TaskState]?: string } = {
  TASK_STATE_INPUT_REQUIRED: "The agent waits for your answer.",
  TASK_STATE_AUTH_REQUIRED: "The agent waits for an authorization, which this API does not support.",
};

/** Collects an agent's answer to one message as text, and never changes earlier text. */
export class AnswerAccumulator {
  text = "";
  contextId: string | undefined;
  taskId: string | undefined;
  #status: TaskStatus | undefined;
  #isFinished = false;
  readonly #tracker = new ArtifactContentTracker();
  readonly #dataParts = new Map<string, Part[]>();

  get taskState(): TaskState | undefined {
    return this.#status?.state;
  }

  /** True if the agent waits for the user. */
  get isWaitingForUser(): boolean {
    return this.taskState !== undefined && isInterrupted(this.taskState);
  }

  /** True if the agent's answer is complete, even if the stream stays open. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** Marks the existing artifacts of a continued task as already returned to the client. */
  skipExistingArtifacts(task: Task): void {
    this.#tracker.addKnownArtifacts(task);
  }

  /** Adds a stream event, and returns the text that the event appends to the answer. */
  addEvent(event: StreamResponse): string {
    if ("message" in event) {
      this.contextId ??= event.message.contextId;
      this.#dataParts.set("", event.message.parts);
      this.#isFinished = true;
      return this.#appendText(renderPartsAsText(event.message.parts));
    }
    if ("task" in event) {
      const { id, contextId, status, artifacts = [] } = event.task;
      this.#setTaskIds(id, contextId);
      this.#status = status;
      return artifacts.map((artifact) => this.#addArtifact(artifact, false)).join("");
    }
    if ("statusUpdate" in event) {
      const { taskId, contextId, status } = event.statusUpdate;
      this.#setTaskIds(taskId, contextId);
      this.#status = status;
      this.#isFinished = isTerminal(status.state) || isInterrupted(status.state);
      return "";
    }
    const { taskId, contextId, artifact, append } = event.artifactUpdate;
    this.#setTaskIds(taskId, contextId);
    return this.#addArtifact(artifact, append === true);
  }

  /**
   * Returns the remaining text of the answer after the last event. Throws `UnsuccessfulTaskError` if the task
   * failed, was rejected, or was canceled.
   */
  finishAndGetRemainingText(): string {
    const { state, message } = this.#status ?? {};
    const statusText = message ? renderPartsAsText(message.parts) : "";
    const failureText = state && FAILURE_TEXTS[state];
    if (failureText !== undefined)
      throw new UnsuccessfulTaskError(state as string, statusText || failureText);
    const interruptionText = state && INTERRUPTION_TEXTS[state];
    if (interruptionText !== undefined) {
      // A question may consist of data only, for example a tool call that requires approval.
      const questionData = renderDataAsText(message?.parts ?? []);
      return this.#appendText(
        statusText || (questionData === "" ? interruptionText : `${interruptionText}\n\n${questionData}`),
        true,
      );
    }
    // Some agents answer only with the message of their final status.
    if (this.text === "" && statusText !== "") return this.#appendText(statusText);
    return this.text === "" ? this.#appendText(renderDataAsText([...this.#dataParts.values()].flat())) : "";
  }

  #setTaskIds(taskId: string, contextId: string): void {
    this.taskId = taskId;
    this.contextId = contextId;
  }

  #addArtifact({ artifactId, parts, metadata }: Artifact, append: boolean): string {
    if (isThought(metadata)) return "";
    const data = parts.filter((part) => "data" in part);
    this.#dataParts.set(artifactId, append ? [...(this.#dataParts.get(artifactId) ?? []), ...data] : data);
    // Text that was already returned cannot be withdrawn, so a replacement is a new paragraph.
    const added = this.#tracker.addUpdate({ artifact: { artifactId, parts }, append });
    return this.#appendText(renderPartsAsText(added.parts), !added.isContinuation);
  }

  #appendText(text: string, isNewParagraph = false): string {
    const addition = isNewParagraph && this.text !== "" && text !== "" ? `\n\n${text}` : text;
    if (this.text.length + addition.length > MAX_ANSWER_LENGTH)
      throw new A2AError("INVALID_AGENT_RESPONSE", "The agent's answer exceeds the maximum length.");
    this.text += addition;
    return addition;
  }
}

/**
 * Error for a task that failed, was rejected, or was canceled. Clients should not retry after this error,
 * because the agent would repeat the work.
 */
export class UnsuccessfulTaskError extends Error {
  readonly code: string;

  constructor(state: string, message: string) {
    super(message);
    this.code = state.toLowerCase().replace("task_state_", "task_");
  }
}
