import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { usePageState } from "../app/page-state.ts";
import { toSingleLine } from "../../../cards/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import type { ConsoleAgent, ConsoleSignInScheme } from "../../console-api/index.ts";
import { formatError } from "../parts/notice.tsx";
import type { TrafficActions } from "../source/traffic-source.ts";

interface SignInFormsProps {
  readonly agent: ConsoleAgent;
  readonly actions: TrafficActions;
}

/** One form for each security scheme of the card. The console keeps the values in memory and never sends them back. */
export function SignInForms({ agent, actions }: SignInFormsProps): VNode {
  const page = usePageState();
  const signOut = async (): Promise<void> => {
    try {
      await actions.deleteCredentials(agent.id);
      await page.refreshAgents();
    } catch (error) {
      page.announcement.value = formatError(error);
    }
  };
  return (
    <details class="sign-in" open={agent.status === "auth-needed"}>
      <summary>Sign in</summary>
      {agent.credentials.length > 0 && (
        <p>
          <span class="badge" data-tone="good">
            ✓ signed in
          </span>{" "}
          with {agent.credentials.join(", ")}{" "}
          <button type="button" onClick={() => void signOut()}>
            Forget the credentials
          </button>
        </p>
      )}
      {agent.signIn.map((scheme) => (
        <SignInForm key={scheme.scheme} agent={agent} scheme={scheme} actions={actions} />
      ))}
    </details>
  );
}

function SignInForm(props: SignInFormsProps & { readonly scheme: ConsoleSignInScheme }): VNode {
  const { agent, scheme, actions } = props;
  const page = usePageState();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [state, setState] = useState<"idle" | "sending" | { readonly problem: string }>("idle");
  const id = useId();
  const submit = async (): Promise<void> => {
    setState("sending");
    try {
      await actions.putCredentials(agent.id, { scheme: scheme.scheme, values });
      setValues({});
      await page.refreshAgents();
      setState("idle");
      page.announcement.value = scheme.kind === "headers" ? "The headers are sent from now on" : "Signed in";
    } catch (error) {
      setState({ problem: formatError(error) });
    }
  };
  if (scheme.kind === "unsupported")
    return (
      <p class="soft">
        <AgentText text={scheme.scheme} />: the console does not support this scheme.
      </p>
    );
  return (
    <form
      class="sign-in-form"
      aria-label={`Sign in with ${toSingleLine(scheme.scheme)}`}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <h3>
        <AgentText text={scheme.scheme} /> <span class="soft">{scheme.kind}</span>
      </h3>
      {scheme.description !== undefined && (
        <p class="soft">
          <AgentText text={scheme.description} />
        </p>
      )}
      {scheme.fields.map(({ name, label, isSecret, isLong = false }) => (
        <div class="field" key={name}>
          <label for={`${id}-${name}`}>
            <AgentText text={label} />
          </label>
          {isLong ? (
            <textarea
              id={`${id}-${name}`}
              rows={2}
              value={Object.hasOwn(values, name) ? values[name] : ""}
              onInput={({ currentTarget }) => setValues({ ...values, [name]: currentTarget.value })}
            />
          ) : (
            <input
              id={`${id}-${name}`}
              {...({ type: isSecret ? "password" : "text" } as { type: "text" })}
              autocomplete="off"
              value={Object.hasOwn(values, name) ? values[name] : ""}
              onInput={({ currentTarget }) => setValues({ ...values, [name]: currentTarget.value })}
            />
          )}
        </div>
      ))}
      <button disabled={state === "sending"}>
        {scheme.kind === "headers" ? "Send these headers" : "Sign in"}
      </button>
      {typeof state === "object" && (
        <p class="problem" role="alert">
          <AgentText text={state.problem} />
        </p>
      )}
    </form>
  );
}
