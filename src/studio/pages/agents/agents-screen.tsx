import type { VNode } from "preact";
import { usePageState } from "../app/page-state.ts";
import { formatRoute } from "../app/route.ts";
import { AgentText } from "../cards/agent-text.tsx";
import type { ConsoleAgent } from "../../console-api/index.ts";
import { formatError, Notice } from "../parts/notice.tsx";
import { AgentDetails } from "./agent-details.tsx";
import { AgentStatusBadge } from "./agent-status-badge.tsx";
import { useId, useState } from "preact/hooks";
import type { TrafficActions } from "../source/traffic-source.ts";

/** The agents, and the card of the chosen agent. The route is `#/agents/AGENT`. */
export function AgentsScreen(): VNode {
  const page = usePageState();
  const agents = page.agents.value;
  const [agentId] = page.route.value.segments;
  const chosen = agentId === undefined ? agents[0] : page.findAgent(agentId);
  const { actions, session } = page.source;
  return (
    <div class="agents-screen" data-has-choice={agentId === undefined ? undefined : ""}>
      <div class="agents-column">
        <h1>Agents</h1>
        {PAGE_SENDS_REQUESTS && actions !== undefined && session.features.addsAgents && (
          <AddAgentForm actions={actions} />
        )}
        <AgentList agents={agents} chosenId={chosen?.id} />
      </div>
      {chosen === undefined ? (
        <Notice
          tone="idle"
          title={agentId === undefined ? "There are no agents yet" : "The agent is not known"}
        >
          {session.features.addsAgents && "Add an agent by the URL of its card."}
        </Notice>
      ) : (
        <AgentDetails key={chosen.id} agent={chosen} />
      )}
    </div>
  );
}

function AgentList(props: {
  readonly agents: readonly ConsoleAgent[];
  readonly chosenId: string | undefined;
}): VNode {
  const { agents, chosenId } = props;
  return (
    <nav aria-label="Agents">
      <ul class="agent-list">
        {agents.map((agent) => (
          <li key={agent.id}>
            <a
              href={formatRoute("agents", [agent.id])}
              aria-current={agent.id === chosenId ? "true" : undefined}
              data-testid="agent"
              data-status={agent.status}
            >
              <AgentText text={agent.name} class="agent-name" />
              <AgentStatusBadge status={agent.status} isRecorded={agent.isRecorded} />
              <AgentText class="soft" text={[...agent.bindings, ...agent.versions].join(", ")} />
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Adds an agent by the URL of the agent or of its card. */
function AddAgentForm({ actions }: { readonly actions: TrafficActions }): VNode {
  const page = usePageState();
  const [url, setUrl] = useState("");
  const [state, setState] = useState<"idle" | "adding" | { readonly problem: string }>("idle");
  const id = useId();
  const add = async (): Promise<void> => {
    setState("adding");
    try {
      const agent = await actions.addAgent(url.trim());
      await page.refreshAgents();
      setUrl("");
      setState("idle");
      page.navigate("agents", [agent.id]);
    } catch (error) {
      setState({ problem: formatError(error) });
    }
  };
  return (
    <form
      class="add-agent"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <label for={id}>URL of an agent</label>
      <input
        id={id}
        type="url"
        required
        placeholder="https://example.com/agent"
        value={url}
        onInput={({ currentTarget }) => setUrl(currentTarget.value)}
      />
      <button class="primary" disabled={state === "adding"}>
        {state === "adding" ? "Reading the card …" : "Add"}
      </button>
      {typeof state === "object" && (
        <p class="problem" role="alert">
          <AgentText text={state.problem} />
        </p>
      )}
    </form>
  );
}
