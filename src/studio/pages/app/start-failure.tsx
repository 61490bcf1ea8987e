import type { VNode } from "preact";
import { TrafficSourceError } from "../source/traffic-source.ts";
import { ConsoleSignIn } from "./console-sign-in.tsx";

/** Replaces the page when its source cannot be opened. A console asks a user without a session to sign in. */
export function StartFailure({ error }: { readonly error: unknown }): VNode {
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
