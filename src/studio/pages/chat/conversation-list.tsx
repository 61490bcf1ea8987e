import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { usePageState } from "../app/page-state.ts";
import { formatRoute } from "../app/route.ts";
import { AgentText } from "../cards/agent-text.tsx";
import type { ConsoleTaskSummary } from "../../console-api/index.ts";
import { formatError } from "../parts/notice.tsx";
import { formatAge } from "../parts/time-format.ts";

/** Number of the newest tasks whose conversations the list contains. */
const LISTED_TASKS = 200;

interface ConversationListProps {
  readonly currentContextId: string | undefined;
}

/** The earlier conversations with all agents, newest first, each with its first message and the age of its last task. */
export function ConversationList({ currentContextId }: ConversationListProps): VNode {
  const { source, agents, findAgent } = usePageState();
  const hasSeveralAgents = agents.value.length > 1;
  const [conversations, setConversations] = useState<readonly ConsoleTaskSummary[]>();
  const [problem, setProblem] = useState<string>();
  const load = async (): Promise<void> => {
    try {
      const { tasks } = await source.listTasks({ pageSize: LISTED_TASKS });
      // Agents have conversations with each other, too.
      const talks = tasks.filter(
        ({ agent, parent }) => findAgent(agent)?.isRecorded === false && parent === undefined,
      );
      const byContext = Map.groupBy(talks, ({ agent, contextId }) => JSON.stringify([agent, contextId]));
      // Tasks are sorted by time, newest first, so that the last one of a context began the conversation.
      setConversations(
        [...byContext.values()].flatMap((group) => {
          const [last, began] = [group[0], group.at(-1)];
          return last && began ? { ...began, updatedAt: last.updatedAt } : [];
        }),
      );
    } catch (error) {
      setProblem(formatError(error));
    }
  };
  const list = useRef<HTMLDetailsElement>(null);
  // The first message of a new conversation adds it to an open list.
  useEffect(() => {
    if (list.current?.open === true) void load();
  }, [currentContextId]);
  return (
    <details
      ref={list}
      class="conversations"
      onToggle={({ currentTarget }) => {
        if (currentTarget.open) void load();
      }}
    >
      <summary>Conversations</summary>
      {problem !== undefined && <p class="problem">{problem}</p>}
      {conversations?.length === 0 && <p class="soft">There are no conversations yet.</p>}
      {conversations !== undefined && conversations.length > 0 && (
        <ul aria-label="Conversations">
          {conversations.map(({ agent, contextId, preview, updatedAt }) => (
            <li key={`${agent} ${contextId}`}>
              <a
                href={formatRoute("chat", [agent], { context: contextId })}
                aria-current={contextId === currentContextId ? "true" : undefined}
                onClick={({ currentTarget }) => currentTarget.closest("details")?.removeAttribute("open")}
              >
                <AgentText text={preview === "" ? contextId : preview} />{" "}
                <span class="soft">
                  {hasSeveralAgents && <AgentText text={`${findAgent(agent)?.name ?? agent} · `} />}
                  {formatAge(updatedAt, Date.now())}
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}
