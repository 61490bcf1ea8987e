import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { usePageState } from "../app/page-state.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { formatError } from "../parts/notice.tsx";
import type { TrafficActions } from "../source/traffic-source.ts";

/** Adds an agent by the URL of the agent or of its card. */
export function AddAgentForm({ actions }: { readonly actions: TrafficActions }): VNode {
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
