import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useHotkeys } from "../app/hotkeys.ts";
import { usePageState } from "../app/page-state.ts";
import { formatRoute } from "../app/route.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { toSingleLine } from "../../../cards/index.ts";
import type { ConsoleAgent } from "../../console-api/index.ts";
import type { Part } from "../../../protocol/index.ts";
import { saveFile } from "../parts/file-view.tsx";
import { FailureNotice, Notice } from "../parts/notice.tsx";
import { findQuestions } from "../task/find-questions.ts";
import { chatDraft, lastChatRoute } from "./chat-draft.ts";
import type { ChatTurn } from "./chat-turn.ts";
import { Composer } from "./composer.tsx";
import { ConversationList } from "./conversation-list.tsx";
import { createTestFile } from "./create-test-file.ts";
import { type ChatSource, type Conversation, openConversation, startConversation } from "./conversation.ts";
import { TurnView, useTurnAnnouncements } from "./turn-view.tsx";

/** A message that the user edits to send it again. */
interface Draft {
  readonly parts: readonly Part[];
  readonly referenceTaskIds: readonly string[];
}

const EMPTY_DRAFT: Draft = { parts: [], referenceTaskIds: [] };
/** Distance from the end of the transcript within which new content scrolls into view, in pixels. */
const FOLLOW_DISTANCE_PX = 80;

/** A conversation with an agent. The route is `#/chat/AGENT?context=CONTEXT`, without a context for a new conversation. */
export function ChatScreen(): VNode {
  const page = usePageState();
  const { actions } = page.source;
  const usable = page.agents.value.filter(({ isRecorded }) => !isRecorded);
  const [agentId] = page.route.value.segments;
  const agent = agentId === undefined ? usable[0] : page.findAgent(agentId);
  if (actions === undefined || !page.source.session.canAct)
    return (
      <Notice tone="idle" title="A record accepts no messages">
        Open a console to send messages.
      </Notice>
    );
  if (agent === undefined || agent.isRecorded)
    return (
      <Notice
        tone="idle"
        title={
          agentId === undefined
            ? "There is no agent to talk to"
            : `The console has no agent ${agentId} to talk to`
        }
      >
        {usable.map(({ id, name }) => (
          <a key={id} class="button" href={formatRoute("chat", [id])}>
            Chat with <AgentText text={name} />
          </a>
        ))}
        <a class="button" href={formatRoute("agents")}>
          Add an agent
        </a>
      </Notice>
    );
  return (
    <AgentChat key={agent.id} agent={agent} usableAgents={usable} source={{ ...page.source, actions }} />
  );
}

interface AgentChatProps {
  readonly agent: ConsoleAgent;
  readonly usableAgents: readonly ConsoleAgent[];
  readonly source: ChatSource;
}

function AgentChat({ agent, usableAgents, source }: AgentChatProps): VNode {
  const page = usePageState();
  const routeContext = page.route.value.params["context"];
  const [conversation, setConversation] = useState(() => openConversation(agent.id, source, routeContext));
  const [draft, setDraft] = useState<Draft>(EMPTY_DRAFT);
  const [isForNew, setIsForNew] = useState(false);
  const version = conversation.version.value;
  useEffect(() => page.subscribeToLines((lines) => conversation.observe(lines)), [conversation]);
  // Back, Forward, and a link choose another conversation.
  useEffect(() => {
    if (routeContext !== undefined && routeContext !== conversation.contextId)
      setConversation(openConversation(agent.id, source, routeContext));
  }, [routeContext]);
  useEffect(() => {
    if (conversation.contextId !== undefined && conversation.contextId !== page.route.value.params["context"])
      page.replaceParams({ context: conversation.contextId });
  }, [conversation, conversation.contextId]);
  useEffect(() => {
    lastChatRoute.value = formatRoute("chat", [agent.id], { context: conversation.contextId });
  }, [agent.id, conversation.contextId]);
  useTurnAnnouncements(conversation, version);
  const prepared = chatDraft.value;
  useEffect(() => {
    if (prepared?.agentId !== agent.id) return;
    chatDraft.value = undefined;
    setConversation(startConversation(agent.id, source, prepared.contextId));
    setDraft(prepared);
  }, [prepared, agent.id]);

  const startNew = (): void => {
    setConversation(startConversation(agent.id, source));
    setDraft(EMPTY_DRAFT);
    page.navigate("chat", [agent.id]);
  };
  const last = conversation.turns.at(-1);
  useHotkeys([
    { keys: "n", label: "New conversation", run: startNew },
    { keys: "x", label: "Cut the connection", run: () => last && conversation.cut(last) },
    { keys: ".", label: "Stop the agent", run: () => last?.isActive && conversation.stop(last) },
  ]);
  const send = (parts: readonly Part[]): void => {
    if (draft !== EMPTY_DRAFT && isForNew) {
      const fresh = startConversation(agent.id, source);
      setConversation(fresh);
      page.navigate("chat", [agent.id]);
      fresh.send(parts);
    } else {
      const taskId = last?.isWaiting ? last.task?.id : undefined;
      conversation.send(parts, { taskId, referenceTaskIds: draft.referenceTaskIds });
    }
    setDraft(EMPTY_DRAFT);
  };
  const edit = (turn: ChatTurn): void =>
    setDraft({
      parts: [...turn.sent.parts],
      referenceTaskIds: turn.task === undefined ? [] : [turn.task.id],
    });
  return (
    <div class="chat-screen">
      <header class="chat-header">
        <h1 class="screen-reader-only">Chat</h1>
        <label>
          Agent{" "}
          <select
            value={agent.id}
            onChange={({ currentTarget }) => page.navigate("chat", [currentTarget.value])}
          >
            {usableAgents.map(({ id, name }) => (
              <option key={id} value={id}>
                {toSingleLine(name)}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={startNew}>
          New conversation
        </button>
        {conversation.turns.some((turn) => !turn.isActive) && (
          <button
            type="button"
            title="Save the conversation as a file of colloquy test"
            onClick={() => saveFile(`${agent.id}.test.json`, createTestFile(agent.name, conversation.turns))}
          >
            Save as test
          </button>
        )}
        <ConversationList currentContextId={conversation.contextId} />
        {agent.status === "auth-needed" && (
          <a class="button primary" href={formatRoute("agents", [agent.id])}>
            Sign in
          </a>
        )}
        {agent.status !== "connected" && (
          <span class="badge" data-tone={agent.status === "unreachable" ? "bad" : "warn"}>
            {agent.status}
          </span>
        )}
      </header>
      <Transcript
        conversation={conversation}
        version={version}
        agent={agent}
        onEdit={edit}
        onSuggest={send}
      />
      {draft !== EMPTY_DRAFT && (
        <p class="again soft">
          <label>
            <input
              type="checkbox"
              checked={isForNew}
              onChange={({ currentTarget }) => setIsForNew(currentTarget.checked)}
            />{" "}
            In a new conversation
          </label>
          {" · "}
          {isForNew
            ? "The agent sees only this message."
            : "The agent also sees what it remembers of this conversation: the earlier message and its answer."}
        </p>
      )}
      <Composer initialParts={draft.parts} placeholder={findPlaceholder(last, agent)} onSend={send} />
    </div>
  );
}

/** A question without a form is answered in the composer. */
function findPlaceholder(last: ChatTurn | undefined, { name }: ConsoleAgent): string {
  if (!last?.isWaiting || findQuestions(last.task).length > 0) return "Message (Enter sends)";
  return `Answer ${toSingleLine(name)} (Enter sends)`;
}

interface TranscriptProps {
  readonly conversation: Conversation;
  readonly version: number;
  readonly agent: ConsoleAgent;
  readonly onEdit: (turn: ChatTurn) => void;
  readonly onSuggest: (parts: readonly Part[]) => void;
}

function Transcript({ conversation, version, agent, onEdit, onSuggest }: TranscriptProps): VNode {
  const scroller = useRef<HTMLDivElement>(null);
  const [isFollowing, setIsFollowing] = useState(true);
  const isFollowed = useRef(true);
  const lastTop = useRef(0);
  const follow = (isOn: boolean): void => {
    isFollowed.current = isOn;
    setIsFollowing(isOn);
  };
  const scrollToEnd = (): void => scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  const { turns } = conversation;
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    if (list.current === null) return undefined;
    // Markdown and images change the height after they are rendered.
    const observer = new ResizeObserver(() => {
      if (isFollowed.current) scrollToEnd();
    });
    observer.observe(list.current);
    return () => observer.disconnect();
  }, []);
  // New content changes the distance from the end, so that only a movement upward means that the user reads.
  const onScroll = ({ currentTarget }: { readonly currentTarget: HTMLElement }): void => {
    const { scrollTop, scrollHeight, clientHeight } = currentTarget;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < FOLLOW_DISTANCE_PX;
    if (isAtEnd) follow(true);
    else if (scrollTop < lastTop.current) follow(false);
    lastTop.current = scrollTop;
  };
  return (
    <div
      class="transcript"
      ref={scroller}
      onScroll={onScroll}
      tabIndex={0}
      role="log"
      aria-label="Conversation"
      aria-live="off"
    >
      {conversation.loading === "loading" && <p role="status">Loading the conversation …</p>}
      {typeof conversation.loading === "object" && (
        <FailureNotice title="The conversation cannot be read" error={conversation.loading.error} />
      )}
      {turns.length === 0 && conversation.loading === undefined && (
        <EmptyConversation agent={agent} onSuggest={onSuggest} />
      )}
      <ol ref={list}>
        {turns.map((turn, index) => (
          <TurnView
            key={turn.key}
            turn={turn}
            conversation={conversation}
            isLast={index === turns.length - 1}
            agentName={agent.name}
            version={version}
            onEdit={onEdit}
          />
        ))}
      </ol>
      {!isFollowing && (
        <button
          type="button"
          class="jump-to-latest"
          onClick={() => {
            follow(true);
            scrollToEnd();
          }}
        >
          ↓ Jump to the latest
        </button>
      )}
    </div>
  );
}

function EmptyConversation({ agent, onSuggest }: Pick<TranscriptProps, "agent" | "onSuggest">): VNode {
  const examples = agent.skills.flatMap(({ examples = [] }) => examples).slice(0, 6);
  return (
    <div class="empty-chat">
      <h2>
        <AgentText text={agent.name} />
      </h2>
      {agent.description !== undefined && (
        <p>
          <AgentText text={agent.description} />
        </p>
      )}
      {examples.length > 0 && (
        <ul class="suggestions" aria-label="Examples">
          {examples.map((example) => (
            <li key={example}>
              <button type="button" onClick={() => onSuggest([{ text: example }])}>
                <AgentText text={example} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
