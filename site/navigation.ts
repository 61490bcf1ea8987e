import { SITE_DOCUMENTS, toSitePage } from "./site-pages.ts";

/** A group of pages in the sidebar. A page is a path in the repository, with the text of its link. */
interface NavigationGroup {
  readonly text: string;
  /** True if the sidebar shows the pages only after a click. */
  readonly isCollapsed?: boolean;
  readonly pages: readonly (readonly [text: string, document: string])[];
}

/**
 * The pages by the task of the reader: five groups for users, and two groups with evidence and internals, which are
 * collapsed. `test/documents/site.test.ts` checks that each page has one place.
 */
export const NAVIGATION: readonly NavigationGroup[] = [
  {
    text: "Get started",
    pages: [
      ["Overview", "README.md"],
      ["Tutorial", "docs/tutorial.md"],
      ["A complete app", "docs/complete-app.md"],
      ["Examples", "examples/README.md"],
      ["A research assistant", "examples/research/README.md"],
      ["From the official packages", "docs/migrate/from-a2a-js.md"],
      ["A2A 0.3 and the simple dialect", "docs/migrate/0.3-to-1.0.md"],
    ],
  },
  {
    text: "Build agents",
    pages: [
      ["Stream a response", "docs/how-to/stream.md"],
      ["Ask the user", "docs/how-to/input-required.md"],
      ["Messages and steering", "docs/how-to/messages.md"],
      ["Files", "docs/how-to/files.md"],
      ["Cancel a task", "docs/how-to/cancel.md"],
      ["Continue after a restart", "docs/how-to/restart.md"],
      ["Steps that run once", "docs/how-to/once.md"],
      ["ADK agents", "docs/adk.md"],
      ["ADK sessions", "docs/adk-sessions.md"],
      ["Remote ADK agents", "docs/remote-agents.md"],
      ["AI SDK, LangGraph, and others", "docs/adapters.md"],
      ["MCP", "docs/mcp.md"],
      ["OpenAI's chat API", "docs/openai-facade.md"],
      ["Planners and solvers", "docs/cards.md"],
      ["Models and experiments", "docs/card-experiments.md"],
      ["Test an agent", "docs/how-to/test.md"],
      ["Conformance of an agent", "docs/how-to/conformance.md"],
      ["Develop with reload", "docs/how-to/dev.md"],
    ],
  },
  {
    text: "Serve and deploy",
    pages: [
      ["Several agents and their cards", "docs/how-to/several-agents.md"],
      ["Authentication", "docs/how-to/auth.md"],
      ["Limits", "docs/how-to/limits.md"],
      ["Push notifications", "docs/push.md"],
      ["gRPC", "docs/how-to/grpc.md"],
      ["Inside another web app", "docs/hosts.md"],
      ["PostgreSQL and several servers", "docs/how-to/postgres.md"],
      ["Other databases", "docs/how-to/custom-store.md"],
      ["Retention and backups", "docs/how-to/retention.md"],
      ["Cloud Run, Vercel, Lambda", "docs/deploy/README.md"],
      ["Cloudflare Workers", "docs/deploy/workers.md"],
      ["Docker, Kubernetes, systemd", "docs/operations.md"],
      ["Runtimes", "docs/runtimes.md"],
      ["Reverse proxies", "docs/how-to/proxy.md"],
      ["Health and checks", "docs/how-to/health.md"],
    ],
  },
  {
    text: "Call and observe agents",
    pages: [
      ["Chats in the browser", "docs/how-to/ui.md"],
      ["Resume a stream", "docs/how-to/resume.md"],
      ["Credentials", "docs/how-to/credentials.md"],
      ["Command line", "docs/cli.md"],
      ["Console", "docs/how-to/console.md"],
      ["Logs, metrics, and traces", "docs/how-to/observe.md"],
      ["Traffic records", "docs/how-to/record.md"],
      ["Recording and faults", "docs/how-to/tap.md"],
      ["Recordings of message cards", "docs/card-recordings.md"],
    ],
  },
  {
    text: "Reference",
    pages: [
      ["Server", "docs/reference/server.md"],
      ["Client", "docs/reference/client.md"],
      ["Agent", "docs/reference/agent.md"],
      ["Authentication", "docs/reference/auth.md"],
      ["ADK", "docs/reference/adk.md"],
      ["Errors", "docs/reference/errors.md"],
      ["Glossary", "docs/reference/glossary.md"],
      ["Stream cursor", "docs/extensions/stream-cursor-v1.md"],
      ["Idempotent send", "docs/extensions/idempotent-send-v1.md"],
      ["Agent steering", "docs/extensions/agent-steering-v1.md"],
      ["Message events", "docs/extensions/message-events-v1.md"],
      ["Parent task", "docs/extensions/parent-task-v1.md"],
      ["Message cards", "docs/extensions/cards-v1.md"],
      ["Stability", "docs/stability.md"],
      ["Changes", "CHANGELOG.md"],
    ],
  },
  {
    text: "How we know",
    isCollapsed: true,
    pages: [
      ["Comparison", "docs/comparison.md"],
      ["Benchmarks", "docs/benchmarks.md"],
      ["Conformance", "docs/conformance.md"],
      ["Interoperability", "docs/interop.md"],
      ["Chaos mode", "docs/chaos.md"],
      ["Hostile mode", "docs/hostile.md"],
      ["Simulation", "docs/simulation.md"],
      ["Figures of message cards", "docs/card-figures.md"],
    ],
  },
  {
    text: "Project",
    isCollapsed: true,
    pages: [
      ["Security", "SECURITY.md"],
      ["Contributing", "CONTRIBUTING.md"],
      ["Code of conduct", "CODE_OF_CONDUCT.md"],
      ["Releases", "RELEASING.md"],
      ["Source overview", "AGENTS.md"],
      ["Skill for coding agents", "skills/colloquy/SKILL.md"],
      ["Dependencies", "docs/dependencies.md"],
      ["Decisions", "docs/decisions/README.md"],
    ],
  },
];

/** Pages that other pages list: decisions, translations, and parts of the skill. */
const PAGES_LISTED_ELSEWHERE = /^docs\/decisions\/\d|^README\.\w+\.md$|^skills\/\w+\/references\//;

/** Returns the pages without a place in the navigation. */
export function listPagesOutsideNavigation(documents: readonly string[] = SITE_DOCUMENTS): string[] {
  const listed = new Set(NAVIGATION.flatMap(({ pages }) => pages.map(([, document]) => document)));
  return documents.filter((document) => !listed.has(document) && !PAGES_LISTED_ELSEWHERE.test(document));
}

/** A group of the sidebar, in the form that VitePress reads. */
interface SidebarGroup {
  readonly text: string;
  readonly collapsed: boolean;
  readonly items: { readonly text: string; readonly link: string }[];
}

export function buildSidebar(): SidebarGroup[] {
  return NAVIGATION.map(({ text, isCollapsed = false, pages }) => ({
    text,
    collapsed: isCollapsed,
    items: pages.map(([pageText, document]) => ({ text: pageText, link: `/${toSitePage(document)}` })),
  }));
}
