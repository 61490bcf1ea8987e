import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { AgentText } from "../cards/agent-text.tsx";
import { toSingleLine } from "../../../cards/index.ts";
import { CommandPalette, openCommandPalette } from "./command-palette.tsx";
import { ConnectionBadge } from "./connection-badge.tsx";
import { HelpDialog, openHelpDialog } from "./help-dialog.tsx";
import { useHotkeys } from "./hotkeys.ts";
import { type PageState, PageStateProvider } from "./page-state.ts";
import { lastChatRoute } from "../chat/chat-draft.ts";
import { ReloadNotice } from "./reload-notice.tsx";
import { formatRoute, SCREEN_NAMES } from "./route.ts";
import { Screen } from "./screen.tsx";
import { toggleTheme } from "./theme.ts";

/** The page: a header with the navigation, and the screen of the current route. */
export function App({ state }: { readonly state: PageState }): VNode {
  const { source, route, screens, announcement, toast } = state;
  const { screen } = route.value;
  const { title = "", component = EmptyScreen } = screens[screen] ?? {};
  const offeredScreens = SCREEN_NAMES.flatMap((name) => {
    const definition = screens[name];
    const isOffered =
      definition !== undefined && (name === screen || (definition.isOffered?.(state) ?? true));
    return isOffered ? [{ name, ...definition }] : [];
  });

  useEffect(() => {
    document.title = toSingleLine(`${title} · ${source.session.name}`);
  }, [title, source]);
  const announceTheme = (): void => {
    announcement.value = `${toggleTheme()} theme`;
  };
  useHotkeys([
    { keys: "?", label: "Show this help", run: openHelpDialog },
    { keys: "Mod+k", label: "Find a command", run: openCommandPalette, isActiveInFields: true },
    { keys: "t", label: "Switch between the light and the dark theme", run: announceTheme },
    ...offeredScreens.flatMap(({ name, key, title }) =>
      key === undefined
        ? []
        : [{ keys: `g ${key}`, label: `Open ${title}`, run: () => state.navigate(name) }],
    ),
  ]);

  return (
    <PageStateProvider value={state}>
      <a class="skip-link" href="#main" onClick={focusMain}>
        Skip to the content
      </a>
      <header class="page-header">
        <span class="page-name">
          <AgentText text={source.session.name} />
        </span>
        <nav aria-label="Screens">
          {offeredScreens.map(({ name, title }) => (
            <a
              key={name}
              href={(name === "chat" ? lastChatRoute.value : undefined) ?? formatRoute(name)}
              aria-current={name === screen ? "page" : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        <ConnectionBadge />
        {source.session.canSignOut && (
          <button
            type="button"
            class="quiet"
            onClick={() => void source.actions?.signOut().then(() => location.reload())}
          >
            Sign out
          </button>
        )}
        <button
          type="button"
          class="quiet"
          onClick={openHelpDialog}
          title="Keyboard help (?)"
          aria-label="Keyboard help"
        >
          ?
        </button>
        <button
          type="button"
          class="quiet"
          onClick={announceTheme}
          title="Light or dark theme (t)"
          aria-label="Light or dark theme"
        >
          ◐
        </button>
      </header>
      {PAGE_SENDS_REQUESTS && <ReloadNotice />}
      <main id="main" tabIndex={-1} data-screen={screen}>
        <Screen key={screen} route={route.value} title={title} component={component} />
      </main>
      <HelpDialog />
      <CommandPalette />
      {toast.value !== "" && (
        <p class="toast" aria-hidden="true">
          {toast}
        </p>
      )}
      <p class="screen-reader-only" aria-live="polite">
        {announcement}
      </p>
    </PageStateProvider>
  );
}

function EmptyScreen(): null {
  return null;
}

function focusMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
