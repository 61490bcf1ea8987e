import { render, type VNode } from "preact";
import { startTrafficFeed } from "../flow/traffic-feed.ts";
import { type TrafficSource, TrafficSourceError } from "../source/traffic-source.ts";
import { App } from "./app.tsx";
import { startHotkeys } from "./hotkeys.ts";
import { createPageState, type ScreenTable } from "./page-state.ts";
import type { ScreenName } from "./route.ts";
import { restoreTheme } from "./theme.ts";
import { useState } from "preact/hooks";
import { toBase64 } from "../../../protocol/index.ts";
import type { ConsoleSignInRequest } from "../../console-api/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { formatError } from "../parts/notice.tsx";
import { signInToConsole } from "../source/console-source.ts";

/** The source of a page, and the screen that the page shows first. */
export interface OpenedTrafficSource {
  readonly source: TrafficSource;
  readonly firstScreen: ScreenName;
}

/** Opens the source and renders the page. The attribute `data-ready` of the body marks the end. */
export async function startPage(
  screens: ScreenTable,
  openSource: () => Promise<OpenedTrafficSource>,
): Promise<void> {
  restoreTheme();
  const root = document.getElementById("app") ?? document.body;
  try {
    const { source, firstScreen } = await openSource();
    const state = createPageState(source, screens, firstScreen);
    startTrafficFeed(state);
    await state.refreshAgents();
    startHotkeys();
    state.start();
    render(<App state={state} />, root);
  } catch (error) {
    render(<StartFailure error={error} />, root);
  }
  document.body.dataset["ready"] = "";
}

/** Replaces the page when its source cannot be opened. A console asks a user without a session to sign in. */
function StartFailure({ error }: { readonly error: unknown }): VNode {
  if (PAGE_SENDS_REQUESTS && error instanceof TrafficSourceError && error.reason === "UNAUTHENTICATED")
    return <ConsoleSignIn reason={error.message} />;
  return (
    <main class="start-failure">
      <h1>The page cannot be shown</h1>
      <p role="alert">{error instanceof Error ? error.message : String(error)}</p>
      <button type="button" onClick={() => location.reload()}>
        Try again
      </button>
    </main>
  );
}

/** Kinds of credentials, with the labels of their fields. */
const KINDS = {
  token: { title: "Token of the printed URL", fields: ["Token"] },
  bearer: { title: "Bearer token", fields: ["Token"] },
  basic: { title: "User and password", fields: ["User", "Password"] },
  apiKey: { title: "API key", fields: ["Header", "Key"] },
} as const;
type CredentialKind = keyof typeof KINDS;

/** Asks for the launch token, or for the user's credentials for the server that has mounted the console. */
function ConsoleSignIn({ reason }: { readonly reason: string }): VNode {
  const [kind, setKind] = useState<CredentialKind>("bearer");
  const [first, setFirst] = useState("");
  const [second, setSecond] = useState("");
  const [problem, setProblem] = useState<string>();
  const { fields } = KINDS[kind];
  const submit = async (): Promise<void> => {
    try {
      await signInToConsole(buildRequest(kind, first.trim(), second));
      location.reload();
    } catch (error) {
      setProblem(formatError(error));
    }
  };
  return (
    <main class="start-failure">
      <h1>Sign in to the console</h1>
      <p class="soft">
        <AgentText text={reason} />
      </p>
      <form
        class="sign-in-form"
        aria-label="Sign in"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <label class="field">
          Credentials{" "}
          <select
            value={kind}
            onInput={({ currentTarget }) => setKind(currentTarget.value as CredentialKind)}
          >
            {Object.entries(KINDS).map(([name, { title }]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        {fields.map((label, index) => (
          <label class="field" key={label}>
            {label}
            <input
              {...({ type: index === fields.length - 1 ? "password" : "text" } as { type: "text" })}
              autocomplete="off"
              value={index === 0 ? first : second}
              onInput={({ currentTarget: { value } }) => (index === 0 ? setFirst(value) : setSecond(value))}
            />
          </label>
        ))}
        <button class="primary">Sign in</button>
        {problem !== undefined && (
          <p class="problem" role="alert">
            <AgentText text={problem} />
          </p>
        )}
      </form>
    </main>
  );
}

function buildRequest(kind: CredentialKind, first: string, second: string): ConsoleSignInRequest {
  if (kind === "token") return { token: first };
  if (kind === "apiKey") return { headers: { [first]: second } };
  const basic = toBase64(new TextEncoder().encode(`${first}:${second}`));
  return { headers: { authorization: kind === "bearer" ? `Bearer ${first}` : `Basic ${basic}` } };
}
