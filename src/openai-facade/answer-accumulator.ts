import {
  A2AError,
  isInterrupted,
  isTerminal,
  type Artifact,
  type Part,
  type StreamResponse,
  type Task,
  type TaskState,
  type TaskStatus,
} from "../protocol/index.ts";
import { renderDataAsText, renderPartsAsText } from "./chat-parts.ts";

/** The most that is said in one answer: an agent elsewhere may never stop. */
const MAX_ANSWER_LENGTH = 16 * 2 ** 20;

/** What a task that has not come to a good end is called. */
const FAILURE_TEXTS: { readonly [State in TaskState]?: string } = {
  TASK_STATE_FAILED: "The agent has failed.",
  TASK_STATE_REJECTED: "The agent does not do this.",
  TASK_STATE_CANCELED: "The task was cancelled.",
};

const INTERRUPTION_TEXTS: { readonly [State in TaskState]?: string } = {
  TASK_STATE_INPUT_REQUIRED: "The agent waits for your answer.",
  TASK_STATE_AUTH_REQUIRED: "The agent waits for an authorization, which can not be given here.",
};

/** What an agent says to one message, as text that only grows. */
export class AnswerAccumulator {
  text = "";
  contextId: string | undefined;
  taskId: string | undefined;
  #status: TaskStatus | undefined;
  #isFinished = false;
  /** The text of each artifact, as far as it was said. */
  readonly #artifactTexts = new Map<string, string>();
  readonly #dataParts = new Map<string, Part[]>();

  get state(): TaskState | undefined {
    return this.#status?.state;
  }

  /** Whether the agent waits for its user. */
  get isWaitingForUser(): boolean {
    return this.state !== undefined && isInterrupted(this.state);
  }

  /** Whether nothing more is to be expected, even where a stream stays open. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** A task that goes on: what it has said before was heard before. */
  skipExistingArtifacts({ artifacts = [] }: Task): void {
    for (const { artifactId, parts } of artifacts)
      this.#artifactTexts.set(artifactId, renderPartsAsText(parts));
  }

  /** What an event adds to the text. */
  addEvent(event: StreamResponse): string {
    if ("message" in event) {
      this.contextId ??= event.message.contextId;
      this.#dataParts.set("", event.message.parts);
      this.#isFinished = true;
      return this.#appendText(renderPartsAsText(event.message.parts));
    }
    if ("task" in event) {
      const { id, contextId, status, artifacts = [] } = event.task;
      this.#setTask(id, contextId);
      this.#status = status;
      return artifacts.map((artifact) => this.#addArtifact(artifact, false)).join("");
    }
    if ("statusUpdate" in event) {
      const { taskId, contextId, status } = event.statusUpdate;
      this.#setTask(taskId, contextId);
      this.#status = status;
      this.#isFinished = isTerminal(status.state) || isInterrupted(status.state);
      return "";
    }
    const { taskId, contextId, artifact, append } = event.artifactUpdate;
    this.#setTask(taskId, contextId);
    return this.#addArtifact(artifact, append === true);
  }

  /** What is said once nothing more comes; throws for a task that has come to no good end. */
  finish(): string {
    const { state, message } = this.#status ?? {};
    const statusText = message ? renderPartsAsText(message.parts) : "";
    const failureText = state && FAILURE_TEXTS[state];
    if (failureText !== undefined)
      throw new UnsuccessfulTaskError(state as string, statusText || failureText);
    const interruptionText = state && INTERRUPTION_TEXTS[state];
    if (interruptionText !== undefined) {
      // What is asked may be data alone, as a call of a tool that waits for an approval is.
      const questionData = renderDataAsText(message?.parts ?? []);
      return this.#appendText(
        statusText || (questionData === "" ? interruptionText : `${interruptionText}\n\n${questionData}`),
        true,
      );
    }
    // Some agents answer with their last status alone.
    if (this.text === "" && statusText !== "") return this.#appendText(statusText);
    return this.text === "" ? this.#appendText(renderDataAsText([...this.#dataParts.values()].flat())) : "";
  }

  #setTask(taskId: string, contextId: string): void {
    this.taskId = taskId;
    this.contextId = contextId;
  }

  #addArtifact({ artifactId, parts }: Artifact, append: boolean): string {
    const knownText = this.#artifactTexts.get(artifactId);
    const text = renderPartsAsText(parts);
    const data = parts.filter((part) => "data" in part);
    this.#dataParts.set(artifactId, append ? [...(this.#dataParts.get(artifactId) ?? []), ...data] : data);
    if (append) {
      this.#artifactTexts.set(artifactId, (knownText ?? "") + text);
      return this.#appendText(text, knownText === undefined);
    }
    this.#artifactTexts.set(artifactId, text);
    // Shown again, perhaps longer; what has been said can not be taken back.
    return knownText !== undefined && text.startsWith(knownText)
      ? this.#appendText(text.slice(knownText.length))
      : this.#appendText(text, true);
  }

  #appendText(text: string, isNewParagraph = false): string {
    const addition = isNewParagraph && this.text !== "" && text !== "" ? `\n\n${text}` : text;
    if (this.text.length + addition.length > MAX_ANSWER_LENGTH)
      throw new A2AError("INVALID_AGENT_RESPONSE", "The agent says more than an answer may have.");
    this.text += addition;
    return addition;
  }
}

/** A task that has failed, was rejected or was cancelled. Not to be repeated by itself: it would be done again. */
export class UnsuccessfulTaskError extends Error {
  readonly code: string;

  constructor(state: string, message: string) {
    super(message);
    this.code = state.toLowerCase().replace("task_state_", "task_");
  }
}
