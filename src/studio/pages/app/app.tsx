import { Component, type ComponentType, type VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { AgentText } from "../cards/agent-text.tsx";
import { toSingleLine } from "../../../cards/index.ts";
import { CommandPalette, openCommandPalette } from "./command-palette.tsx";
import { formatKeys, listActiveHotkeys, useHotkeys } from "./hotkeys.ts";
import { type PageState, PageStateProvider, usePageState } from "./page-state.ts";
import { lastChatRoute } from "../chat/chat-draft.ts";
import { ReloadNotice } from "./reload-notice.tsx";
import { formatRoute, type PageRoute, SCREEN_NAMES } from "./route.ts";
import { toggleTheme } from "./theme.ts";
import type { WatchConnection } from "../source/traffic-source.ts";
import { FailureNotice } from "../parts/notice.tsx";
import { signal } from "@preact/signals";

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

/** Shows whether new lines arrive. */
function ConnectionBadge(): VNode {
  const { connection, source } = usePageState();
  const { mode } = source.session;
  const { state } = connection.value;
  const text = formatConnection(connection.value, mode);
  return (
    <span class="connection" role="status" data-testid="connection-status" data-status={state}>
      <span class="connection-dot" aria-hidden="true" />
      {text}
    </span>
  );
}

function formatConnection(connection: WatchConnection, mode: string): string {
  if (connection.state === "reconnecting")
    return `Connection lost: attempt ${connection.attempt}. ${connection.error}`;
  if (connection.state === "ended") return mode === "file" ? "Record" : "Not live";
  return connection.state === "live" ? "Live" : "Connecting …";
}

interface ScreenProps {
  readonly route: PageRoute;
  readonly title: string;
  readonly component: ComponentType;
}

interface ScreenState {
  readonly failure: { readonly error: unknown; readonly route: PageRoute } | undefined;
}

/** The screen of a route. If its rendering fails, the rest of the page works, and the next route is tried again. */
class Screen extends Component<ScreenProps, ScreenState> {
  override state: ScreenState = { failure: undefined };

  override componentDidCatch(error: unknown): void {
    reportError(error);
    this.setState({ failure: { error, route: this.props.route } });
  }

  override render(): VNode {
    const { route, title, component: Content } = this.props;
    const { failure } = this.state;
    if (failure?.route !== route) return <Content />;
    return (
      <>
        <h1 class="screen-reader-only">{title}</h1>
        <FailureNotice
          title="This screen cannot be shown"
          error={failure.error}
          onRetry={() => this.setState({ failure: undefined })}
        />
      </>
    );
  }
}

const isHelpOpen = signal(false);

function openHelpDialog(): void {
  isHelpOpen.value = true;
}

/** Lists the keyboard commands of the current screen. */
function HelpDialog(): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = isHelpOpen.value;
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={() => (isHelpOpen.value = false)}>
      <h2 id="help-title">Keyboard</h2>
      {isOpen && (
        <dl class="hotkeys">
          {listActiveHotkeys().map(({ keys, label }) => (
            <div key={keys}>
              <dt>
                {formatKeys(keys).map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{label}</dd>
            </div>
          ))}
        </dl>
      )}
      <form method="dialog">
        <button>Close</button>
      </form>
    </dialog>
  );
}
