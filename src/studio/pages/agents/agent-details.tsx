import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { usePageState } from "../app/page-state.ts";
import { formatRoute } from "../app/route.ts";
import { toSingleLine } from "../../../cards/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import type { ConsoleAgent, ConsoleCardReport } from "../../console-api/index.ts";
import { FailureNotice, formatError, Notice } from "../parts/notice.tsx";
import { AgentStatusBadge } from "./agent-status-badge.tsx";
import { CardReport } from "./card-report.tsx";
import { SignInForms } from "./sign-in-forms.tsx";

/** An agent: the connection, the ways to sign in, the skills, and the card with its validation. */
export function AgentDetails({ agent }: { readonly agent: ConsoleAgent }): VNode {
  const page = usePageState();
  const { source } = page;
  const [report, setReport] = useState<ConsoleCardReport>();
  const [failure, setFailure] = useState<{ readonly error: unknown }>();
  const load = (): void => {
    setFailure(undefined);
    source.readCard(agent.id).then(setReport, (error: unknown) => setFailure({ error }));
  };
  useEffect(load, [source, agent.id, agent.status, agent.credentials.join()]);
  const { actions, session } = source;
  const canAct = actions !== undefined && session.canAct && !agent.isRecorded;
  return (
    <article class="agent-details" aria-label={`Agent ${toSingleLine(agent.name)}`}>
      <header>
        <h2>
          <AgentText text={agent.name} />
        </h2>
        <AgentStatusBadge status={agent.status} isRecorded={agent.isRecorded} />
        <div class="actions">
          {canAct && (
            <a class="button" href={formatRoute("chat", [agent.id])}>
              Chat
            </a>
          )}
          <a class="button" href={formatRoute("tasks", [], { agent: agent.id })}>
            Tasks
          </a>
          {PAGE_SENDS_REQUESTS && canAct && session.features.addsAgents && !agent.isOwn && (
            <RemoveButton agent={agent} />
          )}
        </div>
      </header>
      {agent.error !== undefined && (
        <Notice tone={agent.status === "unreachable" ? "bad" : "warn"} title={describeProblem(agent)}>
          <AgentText text={agent.error} />
        </Notice>
      )}
      {PAGE_SENDS_REQUESTS && canAct && session.features.acceptsCredentials && agent.signIn.length > 0 && (
        <SignInForms agent={agent} actions={actions} />
      )}
      {agent.description !== undefined && (
        <p>
          <AgentText text={agent.description} />
        </p>
      )}
      <dl class="facts">
        {agent.url !== undefined && (
          <>
            <dt>URL</dt>
            <dd>
              <AgentText text={agent.url} />
            </dd>
          </>
        )}
        <dt>Bindings</dt>
        <dd>
          <AgentText text={agent.bindings.join(", ") || "none"} />
          {agent.binding !== undefined && ` (in use: ${agent.binding} ${agent.version ?? ""})`}
        </dd>
        <dt>Versions</dt>
        <dd>
          <AgentText text={agent.versions.join(", ") || "none"} />
        </dd>
        <dt>Streaming</dt>
        <dd>{agent.capabilities.streaming ? "yes" : "no"}</dd>
        <dt>Push notifications</dt>
        <dd>{agent.capabilities.pushNotifications ? "yes" : "no"}</dd>
        <dt>Resumes a stream</dt>
        <dd>{agent.capabilities.resumesAfterEvent ? "after event N" : "with the complete task"}</dd>
      </dl>
      {agent.skills.length > 0 && <SkillList agent={agent} />}
      {failure !== undefined && agent.error === undefined && (
        <FailureNotice title="The card cannot be read" error={failure.error} onRetry={load} />
      )}
      {report !== undefined && <CardReport report={report} />}
    </article>
  );
}

function describeProblem({ status }: ConsoleAgent): string {
  if (status === "unreachable") return "The agent is unreachable";
  return status === "auth-needed" ? "The agent requires a sign-in" : "The agent has problems";
}

function SkillList({ agent }: { readonly agent: ConsoleAgent }): VNode {
  return (
    <section aria-label="Skills">
      <h3>Skills</h3>
      <ul class="skills">
        {agent.skills.map(({ id, name, description, tags }) => (
          <li key={id}>
            <strong>
              <AgentText text={name} />
            </strong>{" "}
            <AgentText text={description} />
            {tags.map((tag) => (
              <span key={tag} class="tag">
                <AgentText text={tag} />
              </span>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

function RemoveButton({ agent }: { readonly agent: ConsoleAgent }): VNode {
  const page = usePageState();
  const remove = async (): Promise<void> => {
    try {
      await page.source.actions?.removeAgent(agent.id);
      await page.refreshAgents();
      page.navigate("agents");
    } catch (error) {
      page.announcement.value = formatError(error);
    }
  };
  return (
    <button type="button" onClick={() => void remove()}>
      Remove
    </button>
  );
}
