import type { VNode } from "preact";

/** Replaces the page when its source cannot be opened, for example because the token is missing. */
export function StartFailure({ error }: { readonly error: unknown }): VNode {
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
