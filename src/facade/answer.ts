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
import { dataAsText, toText } from "./chat-parts.ts";

/** The most that is said in one answer: an agent elsewhere may never stop. */
const MAX_ANSWER = 16 * 2 ** 20;

/** What a task that has not come to a good end is called. */
const BAD_ENDS: { readonly [State in TaskState]?: string } = {
  TASK_STATE_FAILED: "The agent has failed.",
  TASK_STATE_REJECTED: "The agent does not do this.",
  TASK_STATE_CANCELED: "The task was cancelled.",
};

const QUESTIONS: { readonly [State in TaskState]?: string } = {
  TASK_STATE_INPUT_REQUIRED: "The agent waits for your answer.",
  TASK_STATE_AUTH_REQUIRED: "The agent waits for an authorization, which can not be given here.",
};

/** What an agent says to one message, as text that only grows. */
export class Answer {
  text = "";
  contextId: string | undefined;
  taskId: string | undefined;
  #status: TaskStatus | undefined;
  #isOver = false;
  /** The text of each artifact, as far as it was said. */
  readonly #artifacts = new Map<string, string>();
  readonly #data = new Map<string, Part[]>();

  get state(): TaskState | undefined {
    return this.#status?.state;
  }

  /** Whether the agent waits for its user. */
  get isQuestion(): boolean {
    return this.state !== undefined && isInterrupted(this.state);
  }

  /** Whether nothing more is to be expected, even where a stream stays open. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** A task that goes on: what it has said before was heard before. */
  knows({ artifacts = [] }: Task): void {
    for (const { artifactId, parts } of artifacts) this.#artifacts.set(artifactId, toText(parts));
  }

  /** What an event adds to the text. */
  hear(event: StreamResponse): string {
    if ("message" in event) {
      this.contextId ??= event.message.contextId;
      this.#data.set("", event.message.parts);
      this.#isOver = true;
      return this.#say(toText(event.message.parts));
    }
    if ("task" in event) {
      const { id, contextId, status, artifacts = [] } = event.task;
      this.#place(id, contextId);
      this.#status = status;
      return artifacts.map((artifact) => this.#hearArtifact(artifact, false)).join("");
    }
    if ("statusUpdate" in event) {
      const { taskId, contextId, status } = event.statusUpdate;
      this.#place(taskId, contextId);
      this.#status = status;
      this.#isOver = isTerminal(status.state) || isInterrupted(status.state);
      return "";
    }
    const { taskId, contextId, artifact, append } = event.artifactUpdate;
    this.#place(taskId, contextId);
    return this.#hearArtifact(artifact, append === true);
  }

  /** What is said once nothing more comes; throws for a task that has come to no good end. */
  end(): string {
    const { state, message } = this.#status ?? {};
    const words = message ? toText(message.parts) : "";
    const bad = state && BAD_ENDS[state];
    if (bad !== undefined) throw new TaskEnded(state as string, words || bad);
    const question = state && QUESTIONS[state];
    if (question !== undefined) {
      // What is asked may be data alone, as a call of a tool that waits for an approval is.
      const asked = dataAsText(message?.parts ?? []);
      return this.#say(words || (asked === "" ? question : `${question}\n\n${asked}`), true);
    }
    // Some agents answer with their last status alone.
    if (this.text === "" && words !== "") return this.#say(words);
    return this.text === "" ? this.#say(dataAsText([...this.#data.values()].flat())) : "";
  }

  #place(taskId: string, contextId: string): void {
    this.taskId = taskId;
    this.contextId = contextId;
  }

  #hearArtifact({ artifactId, parts }: Artifact, append: boolean): string {
    const known = this.#artifacts.get(artifactId);
    const text = toText(parts);
    const data = parts.filter((part) => "data" in part);
    this.#data.set(artifactId, append ? [...(this.#data.get(artifactId) ?? []), ...data] : data);
    if (append) {
      this.#artifacts.set(artifactId, (known ?? "") + text);
      return this.#say(text, known === undefined);
    }
    this.#artifacts.set(artifactId, text);
    // Shown again, perhaps longer; what has been said can not be taken back.
    return known !== undefined && text.startsWith(known)
      ? this.#say(text.slice(known.length))
      : this.#say(text, true);
  }

  #say(text: string, isNew = false): string {
    const said = isNew && this.text !== "" && text !== "" ? `\n\n${text}` : text;
    if (this.text.length + said.length > MAX_ANSWER)
      throw new A2AError("INVALID_AGENT_RESPONSE", "The agent says more than an answer may have.");
    this.text += said;
    return said;
  }
}

/** A task that has failed, was rejected or was cancelled. Not to be repeated by itself: it would be done again. */
export class TaskEnded extends Error {
  readonly code: string;

  constructor(state: string, message: string) {
    super(message);
    this.code = state.toLowerCase().replace("task_state_", "task_");
  }
}
