import type { Command } from "commander";
import { CARDS } from "./cards/index.ts";
import type { Context } from "./context.ts";

/**
 * A command: what it does, for the help of its parent and its own, and its module, which is loaded when the command is
 * called and not before: what a command needs costs only whoever calls it.
 */
interface Leaf {
  readonly about: string;
  readonly load: () => Promise<(context: Context) => Command>;
}

/** A word with commands below it. */
interface Group {
  readonly about: string;
  readonly commands: Commands;
}

/** Commands by their names, in the order in which the help shows them. */
export type Commands = Readonly<Record<string, Leaf | Group>>;

/** What looks at all other commands; for these alone everything is loaded. */
export const LOOKS_AT_ALL: ReadonlySet<string> = new Set(["completion", "config"]);

/**
 * All commands. To add one: a file with `export function …Command(context: Context): Command`, and a line here. A folder
 * of commands exports a table like this one, with nothing in it but such imports, and has one line here.
 */
export const COMMANDS: Commands = {
  serve: {
    about: "Serve agents over A2A: files, directories of files, or a command.",
    load: async () => (await import("./serve.ts")).serveCommand,
  },
  send: {
    about: "Send a message: start a task, or go on with one.",
    load: async () => (await import("./send.ts")).sendCommand,
  },
  chat: {
    about: "Talk with an agent, line by line: each line goes on with what was said before.",
    load: async () => (await import("./chat.ts")).chatCommand,
  },
  task: {
    about:
      "Look at tasks, follow and cancel them: get, wait, list, cancel, subscribe, download, push-config.",
    commands: {
      get: {
        about: "Show a task: its state and its artifacts.",
        load: async () => (await import("./task-get.ts")).taskGetCommand,
      },
      wait: {
        about: "Wait until a task has ended or waits for its user, and show it.",
        load: async () => (await import("./task-wait.ts")).taskWaitCommand,
      },
      list: {
        about: "List tasks, the newest first.",
        load: async () => (await import("./task-list.ts")).taskListCommand,
      },
      cancel: {
        about: "Cancel a task.",
        load: async () => (await import("./task-cancel.ts")).taskCancelCommand,
      },
      subscribe: {
        about: "Follow a task until it has ended or waits for its user.",
        load: async () => (await import("./task-subscribe.ts")).taskSubscribeCommand,
      },
      download: {
        about: "Save a task's artifacts as files.",
        load: async () => (await import("./task-download.ts")).taskDownloadCommand,
      },
      "push-config": {
        about: "Say where an agent posts a task's updates: create, get, list, delete.",
        commands: {
          create: {
            about: "Register a webhook for a task.",
            load: async () => (await import("./push-config/create.ts")).pushConfigCreateCommand,
          },
          get: {
            about: "Show a webhook of a task.",
            load: async () => (await import("./push-config/get.ts")).pushConfigGetCommand,
          },
          list: {
            about: "List the webhooks of a task.",
            load: async () => (await import("./push-config/list.ts")).pushConfigListCommand,
          },
          delete: {
            about: "Remove a webhook of a task.",
            load: async () => (await import("./push-config/delete.ts")).pushConfigDeleteCommand,
          },
        },
      },
    },
  },
  card: {
    about: "Look at agent cards: get, validate, verify, sign.",
    commands: {
      get: {
        about: "Show an agent's card: what it says of itself.",
        load: async () => (await import("./card-get.ts")).cardGetCommand,
      },
      validate: {
        about: "Check an agent's card against A2A 1.0.",
        load: async () => (await import("./card-validate.ts")).cardValidateCommand,
      },
      verify: {
        about: "Check that an agent's card is signed by a key that you trust.",
        load: async () => (await import("./card-verify.ts")).cardVerifyCommand,
      },
      sign: {
        about: "Sign a card, for a place that serves it as a file; prints the signed card.",
        load: async () => (await import("./card-sign.ts")).cardSignCommand,
      },
    },
  },
  cards: {
    about: "Look at runs of the card protocol: what roles said, spent and achieved.",
    commands: CARDS,
  },
  auth: {
    about: "Make credentials for the agents that you serve: new-key.",
    commands: {
      "new-key": {
        about: "Make an API key: it is shown once, and what a server keeps of it is not the key.",
        load: async () => (await import("./auth-new-key.ts")).authNewKeyCommand,
      },
    },
  },
  init: {
    about: "Begin a project: an agent, and what it takes to serve it.",
    load: async () => (await import("./init.ts")).initCommand,
  },
  mcp: {
    about: "Agents as tools of an MCP host: each skill a tool, over stdio or HTTP.",
    load: async () => (await import("./mcp.ts")).mcpCommand,
  },
  demo: {
    about: "Serve a demo that needs no key: an ADK assistant, a slow writer, and a planner with its solver.",
    load: async () => (await import("./demo.ts")).demoCommand,
  },
  config: {
    about: "Look at the settings: show.",
    commands: {
      show: {
        about: "Show every setting with the source that it is from; credentials are not shown.",
        load: async () => (await import("./config-show.ts")).configShowCommand,
      },
    },
  },
  completion: {
    about: "Print a script with which a shell completes the words of this program.",
    load: async () => (await import("./completion.ts")).completionCommand,
  },
  info: {
    about: "Tell the official a2a CLI what this is, as its plugin a2a-colloquy.",
    load: async () => (await import("./info.ts")).infoCommand,
  },
};
