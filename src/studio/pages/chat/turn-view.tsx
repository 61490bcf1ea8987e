import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { usePageState } from "../app/page-state.ts";
import { formatRoute } from "../app/route.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { PartList } from "../parts/part-view.tsx";
import { TaskStateBadge } from "../parts/task-state-badge.tsx";
import { AnswerForm } from "../task/answer-form.tsx";
import { ArtifactItem } from "../task/content-view.tsx";
import { describeLine } from "../task/describe-line.ts";
import type { ChatTurn, TurnItem, TurnStatus } from "./chat-turn.ts";
import type { Conversation } from "./conversation.ts";

/** Silence after which the page states how long it lasts, in milliseconds. */
const LONG_SILENCE_MS = 15_000;

interface TurnViewProps {
  readonly turn: ChatTurn;
  readonly conversation: Conversation;
  /** Whether the turn is the last one, whose question can be answered. */
  readonly isLast: boolean;
  /** Changes with each change of the conversation. */
  readonly version: number;
  readonly onEdit: (turn: ChatTurn) => void;
}

/** A message of the user, and everything that the agent sent in response. */
export function TurnView({ turn, conversation, isLast, version, onEdit }: TurnViewProps): VNode {
  const { sent, task, status, error } = turn;
  const isAnswerable = isLast && turn.isWaiting;
  // The form for the answer repeats the question.
  const questionId = isAnswerable ? task?.status.message?.messageId : undefined;
  const items = turn.items.filter((item) => item.kind !== "message" || item.message.messageId !== questionId);
  return (
    <li class="turn" data-testid="turn" data-status={status}>
      <article class="message" data-role="user" aria-label="Your message">
        <div class="message-head">
          <strong>You</strong>
          <button type="button" class="quiet" onClick={() => onEdit(turn)}>
            Edit and send again
          </button>
        </div>
        <PartList parts={sent.parts} />
      </article>
      {items.map((item, index) => (
        <TurnItemView key={index} item={item} turn={turn} version={version} />
      ))}
      {error !== undefined && (
        <p class="problem" role="alert">
          <AgentText text={error} />
        </p>
      )}
      <footer class="turn-status">
        {task !== undefined && <TaskStateBadge state={task.status.state} />}
        <TurnStatusText turn={turn} version={version} />
        {turn.isActive && (
          <button type="button" onClick={() => conversation.stop(turn)}>
            Stop
          </button>
        )}
        {turn.call !== undefined && (
          <button
            type="button"
            onClick={() => conversation.cut(turn)}
            title="Breaks the connection, to see the stream resume"
          >
            Cut the connection
          </button>
        )}
        {task !== undefined && !turn.isActive && !turn.isTaskOver && (
          <button type="button" onClick={() => conversation.resume(turn)}>
            Resume
          </button>
        )}
        {task !== undefined && <a href={formatRoute("task", [conversation.agentId, task.id])}>Timeline</a>}
        {task !== undefined && <a href={formatRoute("flow", [conversation.agentId, task.id])}>Flow</a>}
      </footer>
      {isAnswerable && task !== undefined && (
        <AnswerForm
          task={task}
          isSending={false}
          onAnswer={(parts) => conversation.send(parts, { taskId: task.id })}
        />
      )}
    </li>
  );
}

interface TurnItemProps {
  readonly item: TurnItem;
  readonly turn: ChatTurn;
  /** Changes with the turn, which grows in place. */
  readonly version: number;
}

function TurnItemView({ item, turn, version }: TurnItemProps): VNode | null {
  if (item.kind === "note")
    return (
      <p class="turn-note" data-tone={item.tone} role="status">
        <span aria-hidden="true">{item.tone === "warn" ? "⚡" : "↻"}</span> {item.text}
      </p>
    );
  if (item.kind === "work") {
    const { kind, text } = describeLine(item.line);
    return (
      <p class="turn-work soft">
        {kind}: <AgentText text={text} />
      </p>
    );
  }
  if (item.kind === "artifact") {
    const artifact = turn.findArtifact(item.artifactId);
    return artifact === undefined ? null : <ArtifactItem artifact={artifact} version={version} />;
  }
  return (
    <article class="message" data-role="agent" aria-label="Message of the agent">
      <PartList parts={item.message.parts ?? []} />
    </article>
  );
}

const STATUS_TEXTS: Readonly<Record<TurnStatus, string>> = {
  sending: "Sending …",
  streaming: "Streaming …",
  cut: "Connection lost. The task continues on the server. Reconnecting …",
  ended: "",
  failed: "Failed",
  stopped: "Stopped",
};

function TurnStatusText({ turn }: { readonly turn: ChatTurn; readonly version: number }): VNode {
  const silenceMs = useSilence(turn);
  const events = turn.events === 0 ? "" : ` ${turn.events} events`;
  return (
    <span class="soft" role="status">
      {STATUS_TEXTS[turn.status]}
      {events}
      {silenceMs > LONG_SILENCE_MS && ` · no bytes for ${Math.floor(silenceMs / 1_000)} s`}
    </span>
  );
}

/** Returns the time since the last line of an active turn. */
function useSilence(turn: ChatTurn): number {
  const [, setNow] = useState(0);
  const { isActive } = turn;
  useEffect(() => {
    if (!isActive) return undefined;
    const timer = setInterval(() => setNow(performance.now()), 1_000);
    return () => clearInterval(timer);
  }, [isActive]);
  return isActive ? performance.now() - turn.lastLineMs : 0;
}

/** Announces the end of a turn to screen readers, because streamed text would be announced piece by piece. */
export function useTurnAnnouncements(conversation: Conversation, version: number): void {
  const { announcement } = usePageState();
  const last = conversation.turns.at(-1);
  const status = last?.status;
  useEffect(() => {
    if (status === "ended") announcement.value = "The agent has answered.";
    if (status === "cut") announcement.value = "The connection is lost.";
  }, [status, version === 0]);
}
