import type { Command } from "commander";
import { CARDS_COMMANDS } from "./cards/index.ts";
import type { CliContext } from "./cli-context.ts";

/**
 * A command: its description for the help, and a function that loads its module. The module is loaded only
 * when the command is called, so that each command pays only for its own dependencies.
 */
interface CommandEntry {
  readonly description: string;
  readonly loadFactory: () => Promise<(context: CliContext) => Command>;
}

/** A command that only groups subcommands. */
interface CommandGroup {
  readonly description: string;
  readonly commands: CommandTable;
}

/** Commands by name, in the order in which the help lists them. */
export type CommandTable = Readonly<Record<string, CommandEntry | CommandGroup>>;

/** Commands that inspect all other commands. Only these load every module. */
export const NEEDS_ALL_COMMANDS: ReadonlySet<string> = new Set(["completion", "config"]);

/**
 * All commands. To add a command, create a file with `export function create…Command(context: CliContext):
 * Command`, and add a line here. A folder of commands exports a table like this one, which contains only lazy
 * imports, and has one line here.
 */
export const COMMANDS: CommandTable = {
  serve: {
    description: "Serve agents over A2A: files, directories of files, or a command.",
    loadFactory: async () => (await import("./serve.ts")).createServeCommand,
  },
  send: {
    description: "Send a message: start a task, or go on with one.",
    loadFactory: async () => (await import("./send.ts")).createSendCommand,
  },
  chat: {
    description: "Talk with an agent, line by line: each line goes on with what was said before.",
    loadFactory: async () => (await import("./chat.ts")).createChatCommand,
  },
  task: {
    description:
      "Look at tasks, follow and cancel them: get, wait, list, cancel, subscribe, download, push-config.",
    commands: {
      get: {
        description: "Show a task: its state and its artifacts.",
        loadFactory: async () => (await import("./task-get.ts")).createTaskGetCommand,
      },
      wait: {
        description: "Wait until a task has ended or waits for its user, and show it.",
        loadFactory: async () => (await import("./task-wait.ts")).createTaskWaitCommand,
      },
      list: {
        description: "List tasks, the newest first.",
        loadFactory: async () => (await import("./task-list.ts")).createTaskListCommand,
      },
      cancel: {
        description: "Cancel a task.",
        loadFactory: async () => (await import("./task-cancel.ts")).createTaskCancelCommand,
      },
      subscribe: {
        description: "Follow a task until it has ended or waits for its user.",
        loadFactory: async () => (await import("./task-subscribe.ts")).createTaskSubscribeCommand,
      },
      download: {
        description: "Save a task's artifacts as files.",
        loadFactory: async () => (await import("./task-download.ts")).createTaskDownloadCommand,
      },
      "push-config": {
        description: "Say where an agent posts a task's updates: create, get, list, delete.",
        commands: {
          create: {
            description: "Register a webhook for a task.",
            loadFactory: async () => (await import("./push-config/create.ts")).createPushConfigCreateCommand,
          },
          get: {
            description: "Show a webhook of a task.",
            loadFactory: async () => (await import("./push-config/get.ts")).createPushConfigGetCommand,
          },
          list: {
            description: "List the webhooks of a task.",
            loadFactory: async () => (await import("./push-config/list.ts")).createPushConfigListCommand,
          },
          delete: {
            description: "Remove a webhook of a task.",
            loadFactory: async () => (await import("./push-config/delete.ts")).createPushConfigDeleteCommand,
          },
        },
      },
    },
  },
  card: {
    description: "Look at agent cards: get, validate, verify, sign.",
    commands: {
      get: {
        description: "Show an agent's card: what it says of itself.",
        loadFactory: async () => (await import("./card-get.ts")).createCardGetCommand,
      },
      validate: {
        description: "Check an agent's card against A2A 1.0.",
        loadFactory: async () => (await import("./card-validate.ts")).createCardValidateCommand,
      },
      verify: {
        description: "Check that an agent's card is signed by a key that you trust.",
        loadFactory: async () => (await import("./card-verify.ts")).createCardVerifyCommand,
      },
      sign: {
        description: "Sign a card, for a place that serves it as a file; prints the signed card.",
        loadFactory: async () => (await import("./card-sign.ts")).createCardSignCommand,
      },
    },
  },
  cards: {
    description: "Look at runs of the card protocol: what roles said, spent and achieved.",
    commands: CARDS_COMMANDS,
  },
  auth: {
    description: "Make credentials for the agents that you serve: new-key.",
    commands: {
      "new-key": {
        description: "Make an API key: it is shown once, and what a server keeps of it is not the key.",
        loadFactory: async () => (await import("./auth-new-key.ts")).createAuthNewKeyCommand,
      },
    },
  },
  init: {
    description: "Begin a project: an agent, and what it takes to serve it.",
    loadFactory: async () => (await import("./init.ts")).createInitCommand,
  },
  mcp: {
    description: "Agents as tools of an MCP host: each skill a tool, over stdio or HTTP.",
    loadFactory: async () => (await import("./mcp.ts")).createMcpCommand,
  },
  demo: {
    description:
      "Serve a demo that needs no key: an ADK assistant, a slow writer, and a planner with its solver.",
    loadFactory: async () => (await import("./demo.ts")).createDemoCommand,
  },
  config: {
    description: "Look at the settings: show.",
    commands: {
      show: {
        description: "Show every setting with the source that it is from; credentials are not shown.",
        loadFactory: async () => (await import("./config-show.ts")).createConfigShowCommand,
      },
    },
  },
  completion: {
    description: "Print a script with which a shell completes the words of this program.",
    loadFactory: async () => (await import("./completion.ts")).createCompletionCommand,
  },
  info: {
    description: "Tell the official a2a CLI what this is, as its plugin a2a-colloquy.",
    loadFactory: async () => (await import("./info.ts")).createInfoCommand,
  },
};
