import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { usePageState } from "../app/page-state.ts";
import { formatRoute } from "../app/route.ts";
import { getText, type Message, type Part } from "../../../protocol/index.ts";
import { toSingleLine } from "../../../cards/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { ErrorStack } from "../parts/error-stack.tsx";
import { formatJson } from "../parts/json-text.ts";
import { JsonTree } from "../parts/json-tree.tsx";
import { PartList } from "../parts/part-view.tsx";
import { decodeToolReport, type ToolCall } from "../parts/tool-report.ts";
import { findShownState, TaskStateBadge } from "../parts/task-state-badge.tsx";
import { AnswerForm, hasAnswerForm } from "../task/answer-form.tsx";
import { ArtifactItem } from "../task/content-view.tsx";
import { formatDuration, pluralize } from "../cards/text-format.ts";
import { describeLine, toShortText } from "../task/describe-line.ts";
import { formatEntryKey } from "../task/timeline-filter.ts";
import { describeAnswer } from "./describe-answer.ts";
import type { ChatTurn, TurnItem, TurnStatus } from "./chat-turn.ts";
import type { Conversation } from "./conversation.ts";

/** Silence after which the page states how long it lasts, in milliseconds. */
const LONG_SILENCE_MS = 15_000;

interface TurnViewProps {
  readonly turn: ChatTurn;
  readonly conversation: Conversation;
  /** Whether the turn is the last one, whose question can be answered. */
  readonly isLast: boolean;
  readonly agentName: string;
  /** Changes with each change of the conversation. */
  readonly version: number;
  readonly onEdit: (turn: ChatTurn) => void;
}

/** A message of the user, and everything that the agent sent in response. */
export function TurnView({ turn, conversation, isLast, agentName, version, onEdit }: TurnViewProps): VNode {
  const { task, status, error } = turn;
  const isAnswerable = isLast && turn.isWaiting;
  const hasForm = isAnswerable && task !== undefined && hasAnswerForm(task);
  // The form for the answer repeats the question.
  const questionId = hasForm ? task.status.message?.messageId : undefined;
  // Clients receive the message of an A2AError, which need not be repeated.
  const isTold = turn.cause !== undefined && getText(task?.status.message?.parts ?? []) === turn.cause;
  const items = turn.items.filter((item) => item.kind !== "message" || item.message.messageId !== questionId);
  return (
    <li class="turn" data-testid="turn" data-status={status}>
      <article class="message" data-role="user" aria-label={`Message of ${toSingleLine(turn.sender)}`}>
        <div class="message-head">
          <strong>
            <AgentText text={turn.sender} />
          </strong>
          <button type="button" class="quiet" onClick={() => onEdit(turn)}>
            Edit and send again
          </button>
        </div>
        <SentParts turn={turn} conversation={conversation} />
      </article>
      {items.length > 0 && (
        <article
          class="message"
          data-role="agent"
          data-state={task?.status.state}
          aria-label="Message of the agent"
        >
          <div class="message-head">
            <h2>
              <AgentText text={agentName} />
            </h2>
            <CopyButton text={() => collectTexts(items, turn)} label="Copy the answer" />
          </div>
          {foldProgress(items).map((group, index) => (
            <TurnItemView
              key={index}
              {...group}
              turn={turn}
              agentId={conversation.agentId}
              version={version}
            />
          ))}
        </article>
      )}
      {error !== undefined && (
        <p class="problem" role="alert">
          <AgentText text={error} />
        </p>
      )}
      {turn.cause !== undefined && (
        <p class="problem" role="alert">
          The agent threw {isTold ? "this error." : <AgentText text={`an error: ${turn.cause}`} />}
        </p>
      )}
      {turn.stack !== undefined && (
        <details class="stack">
          <summary>Stack and causes</summary>
          <ErrorStack stack={turn.stack} />
        </details>
      )}
      <footer class="turn-status">
        {task !== undefined && <TaskStateBadge state={findShownState(task)} />}
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
      {hasForm && (
        <AnswerForm
          task={task}
          isSending={false}
          onAnswer={(parts) => conversation.send(parts, { taskId: task.id })}
        />
      )}
    </li>
  );
}

/** An item, and the messages of progress that it has replaced. */
interface TurnItemGroup {
  readonly item: TurnItem;
  readonly earlier: readonly Message[];
}

/** An agent can report its progress thousands of times. The reader sees the last message of each run. */
function foldProgress(items: readonly TurnItem[]): TurnItemGroup[] {
  const groups: { item: TurnItem; earlier: Message[] }[] = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (item.kind === "message" && last?.item.kind === "message" && last.item.isProgress) {
      last.earlier.push(last.item.message);
      last.item = item;
    } else groups.push({ item, earlier: [] });
  }
  return groups;
}

function collectTexts(items: readonly TurnItem[], turn: ChatTurn): string {
  return items
    .flatMap((item) => {
      if (item.kind === "message") return item.isProgress ? [] : getText(item.message.parts ?? []);
      return item.kind === "artifact" ? getText(turn.findArtifact(item.artifactId)?.parts ?? []) : [];
    })
    .filter((text) => text !== "")
    .join("\n\n");
}

/** The content of a message of the user. Answers to questions are data, which the page states in words. */
function SentParts({
  turn,
  conversation,
}: {
  readonly turn: ChatTurn;
  readonly conversation: Conversation;
}): VNode {
  const { parts } = turn.sent;
  const { turns } = conversation;
  const earlierParts = (): Part[] =>
    turns
      .slice(0, turns.indexOf(turn))
      .flatMap(({ items }) =>
        items.flatMap((item) => (item.kind === "message" ? (item.message.parts ?? []) : [])),
      );
  return (
    <>
      {parts.map((part, index) => {
        const answer = "data" in part ? describeAnswer(part, earlierParts(), turn.sender) : undefined;
        if (answer === undefined) return <PartList key={index} parts={[part]} />;
        return (
          <p key={index} class="sent-answer">
            <AgentText text={answer} />
          </p>
        );
      })}
    </>
  );
}

/** Number of earlier messages of progress that the page shows. */
const MAX_SHOWN_PROGRESS = 200;

function EarlierProgress({ messages }: { readonly messages: readonly Message[] }): VNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details class="earlier-progress" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>+{messages.length.toLocaleString("en")} earlier</summary>
      {isOpen && (
        <ul>
          {messages.slice(-MAX_SHOWN_PROGRESS).map(({ messageId, parts }) => (
            <li key={messageId}>
              <AgentText text={getText(parts ?? [])} />
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}

interface TurnItemProps extends TurnItemGroup {
  readonly turn: ChatTurn;
  readonly agentId: string;
  /** Changes with the turn, which grows in place. */
  readonly version: number;
}

function TurnItemView({ item, earlier, turn, agentId, version }: TurnItemProps): VNode | null {
  if (item.kind === "note")
    return (
      <p class="turn-note" data-tone={item.tone} role="status">
        <span aria-hidden="true">{item.tone === "warn" ? "⚡" : "↻"}</span> {item.text}
      </p>
    );
  if (item.kind === "model") {
    const { line } = item;
    return (
      <p class="turn-work soft">
        <a href={formatRoute("task", [agentId, line.task_id ?? ""], { entry: formatEntryKey({ line }) })}>
          <AgentText text={`model ${describeLine(line).text}`} />
        </a>
      </p>
    );
  }
  if (item.kind === "tool") return <ToolCallView call={item.call} isActive={turn.isActive} />;
  if (item.kind === "artifact") {
    const artifact = turn.findArtifact(item.artifactId);
    if (artifact === undefined) return null;
    // The tool calls of the artifact have their own rows.
    const parts = (artifact.parts ?? []).filter((part) => decodeToolReport(part) === undefined);
    return <ArtifactItem artifact={{ ...artifact, parts }} version={version} />;
  }
  return (
    <div class={item.isProgress ? "progress soft" : undefined}>
      {earlier.length > 0 && <EarlierProgress messages={earlier} />}
      <PartList parts={item.message.parts ?? []} />
    </div>
  );
}

function ToolCallView({ call, isActive }: { readonly call: ToolCall; readonly isActive: boolean }): VNode {
  const { name, arguments: input = {}, result, error, durationMs } = call;
  const isRunning = isActive && result === undefined && error === undefined && durationMs === undefined;
  const end = error ?? (durationMs === undefined ? (isRunning ? "running" : "") : formatDuration(durationMs));
  return (
    <details class="tool-call" data-tone={error === undefined ? undefined : "bad"}>
      <summary>
        <AgentText text={`tool ${name}(${toShortText(formatJson(input))})${end === "" ? "" : ` · ${end}`}`} />
      </summary>
      <JsonTree value={{ arguments: input, result: result ?? error ?? null }} />
    </details>
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
  // The list of tasks counts the events of the log, which servers do not send completely.
  const events = turn.events === 0 ? "" : ` ${pluralize(turn.events, "event")} received`;
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
