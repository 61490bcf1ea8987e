import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Artifact, Message, Task } from "../../../protocol/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { toSingleLine } from "../../../cards/index.ts";
import { PartList } from "../parts/part-view.tsx";
import { useHotkeys } from "../app/hotkeys.ts";
import type { TrafficModel } from "../../../observe/trace/index.ts";
import { findSender } from "./describe-line.ts";

interface ContentViewProps {
  readonly task: Task | undefined;
  /** Names the senders of the messages. */
  readonly model: TrafficModel;
  readonly agentName: string;
  /** Changes with the task, which grows in place. */
  readonly version: number;
  /** Number of the last event of the complete history, or 0 without a history. */
  readonly lastSeq: number;
  /** The event after which the task is shown. `undefined` follows the latest event. */
  readonly shownSeq: number | undefined;
  readonly onShowSeq: (seq: number | undefined) => void;
  /** Sends a message of the user again, after a change. Missing for records. */
  readonly onEditMessage?: ((message: Message) => void) | undefined;
}

/** The messages and the artifacts of a task, as they were after an event. */
export function ContentView({
  task,
  model,
  agentName,
  version,
  lastSeq,
  shownSeq,
  onShowSeq,
  onEditMessage,
}: ContentViewProps): VNode {
  return (
    <div class="content-view">
      {lastSeq > 1 && <ReplaySlider lastSeq={lastSeq} shownSeq={shownSeq} onShowSeq={onShowSeq} />}
      {task === undefined ? <p class="soft">The record contains no content of this task.</p> : null}
      {task !== undefined && (
        <>
          <section aria-label="Messages">
            <h2>Messages</h2>
            <MessageList
              messages={listMessages(task)}
              model={model}
              agentName={agentName}
              onEdit={onEditMessage}
            />
          </section>
          <section aria-label="Artifacts">
            <h2>Artifacts</h2>
            {task.artifacts === undefined || task.artifacts.length === 0 ? (
              <p class="soft">No artifacts</p>
            ) : (
              task.artifacts.map((artifact) => (
                <ArtifactItem key={artifact.artifactId} artifact={artifact} version={version} />
              ))
            )}
          </section>
        </>
      )}
    </div>
  );
}

/** Number of messages that the page renders at once. A task can have thousands of messages about its progress. */
const MESSAGES_PER_STEP = 100;

/** The last messages, and a button for the earlier ones. */
function MessageList(
  props: Pick<ContentViewProps, "model" | "agentName"> & {
    readonly messages: readonly Message[];
    readonly onEdit: ContentViewProps["onEditMessage"];
  },
): VNode {
  const { messages, model, agentName, onEdit } = props;
  const [limit, setLimit] = useState(MESSAGES_PER_STEP);
  const hidden = Math.max(0, messages.length - limit);
  return (
    <>
      {hidden > 0 && (
        <button type="button" onClick={() => setLimit(limit + MESSAGES_PER_STEP)}>
          Show earlier messages ({hidden.toLocaleString("en")})
        </button>
      )}
      <ol class="messages">
        {messages.slice(hidden).map((message) => (
          <MessageItem
            key={message.messageId}
            message={message}
            sender={message.role === "ROLE_USER" ? findSender(model, message.messageId) : agentName}
            onEdit={onEdit}
          />
        ))}
      </ol>
    </>
  );
}

/** The history, and the message of the status, which is not part of the history yet. */
function listMessages({ history = [], status }: Task): readonly Message[] {
  const { message } = status;
  if (message === undefined || history.some(({ messageId }) => messageId === message.messageId))
    return history;
  return [...history, message];
}

function MessageItem(props: {
  readonly message: Message;
  readonly sender: string;
  readonly onEdit: ((message: Message) => void) | undefined;
}): VNode {
  const { message, sender, onEdit } = props;
  const isUser = message.role === "ROLE_USER";
  return (
    <li class="message" data-role={isUser ? "user" : "agent"}>
      <div class="message-head">
        <strong>
          <AgentText text={sender} />
        </strong>
        {isUser && onEdit && (
          <button type="button" onClick={() => onEdit(message)}>
            Edit and send again
          </button>
        )}
      </div>
      <PartList parts={message.parts ?? []} />
    </li>
  );
}

/** An artifact with its content. */
export function ArtifactItem(props: {
  readonly artifact: Artifact;
  /** Changes with the artifact, which grows in place. */
  readonly version: number;
}): VNode {
  const { artifact, version } = props;
  return (
    <article class="artifact">
      <h3 title={toSingleLine(artifact.artifactId)}>
        <AgentText text={artifact.name ?? "Artifact"} />
      </h3>
      {artifact.description !== undefined && (
        <p class="soft">
          <AgentText text={artifact.description} />
        </p>
      )}
      <PartList parts={artifact.parts ?? []} version={version} />
    </article>
  );
}

const PLAY_INTERVAL_MS = 150;

interface ReplaySliderProps {
  readonly lastSeq: number;
  readonly shownSeq: number | undefined;
  readonly onShowSeq: (seq: number | undefined) => void;
}

/** Chooses the event after which the task is shown, and plays the events one after another. */
function ReplaySlider({ lastSeq, shownSeq, onShowSeq }: ReplaySliderProps): VNode {
  const [isPlaying, setIsPlaying] = useState(false);
  const seq = shownSeq ?? lastSeq;
  const showSeq = (next: number): void => {
    const kept = Math.max(1, Math.min(lastSeq, next));
    onShowSeq(kept >= lastSeq ? undefined : kept);
  };
  useEffect(() => {
    if (!isPlaying) return undefined;
    if (seq >= lastSeq) {
      setIsPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => showSeq(seq + 1), PLAY_INTERVAL_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, seq, lastSeq]);
  const play = (): void => {
    if (!isPlaying && seq >= lastSeq) showSeq(1);
    setIsPlaying(!isPlaying);
  };
  useHotkeys([
    { keys: "ArrowLeft", label: "Task one event earlier", run: () => showSeq(seq - 1) },
    { keys: "ArrowRight", label: "Task one event later", run: () => showSeq(seq + 1) },
    { keys: "p", label: "Play or pause the events", run: play },
  ]);
  return (
    <div class="replay" role="group" aria-label="Replay">
      <button type="button" onClick={play}>
        {isPlaying ? "Pause" : "Play"}
      </button>
      <label>
        <span class="screen-reader-only">Event after which the task is shown</span>
        <input
          type="range"
          min={1}
          max={lastSeq}
          value={seq}
          onInput={({ currentTarget }) => showSeq(Number(currentTarget.value))}
        />
      </label>
      <output>
        event {seq} of {lastSeq}
      </output>
      {shownSeq !== undefined && (
        <button type="button" onClick={() => onShowSeq(undefined)}>
          Latest
        </button>
      )}
    </div>
  );
}
