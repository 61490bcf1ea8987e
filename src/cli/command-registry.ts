import { CARDS_COMMANDS } from "./cards/index.ts";
import { TRACE_COMMANDS } from "./trace/index.ts";
import type { CommandTable } from "./command-table.ts";

/** Commands that load the modules of all other commands. */
export const COMMANDS_LOADING_ALL_COMMAND_MODULES: ReadonlySet<string> = new Set(["completion", "config"]);

/**
 * All commands. To add a command, create a file with a `create…Command` function and add the command to
 * `COMMANDS`. For a folder of commands, `COMMANDS` contains one entry with the command table that the folder
 * exports.
 */
export const COMMANDS: CommandTable = {
  serve: {
    description: "Serve agents over A2A from files, directories, or a command.",
    loadFactory: async () => (await import("./serve.ts")).createServeCommand,
  },
  dev: {
    description: "Serve agents, and load changed files again while the server runs.",
    loadFactory: async () => (await import("./dev.ts")).createDevCommand,
  },
  worker: {
    description: "Start agents for the messages that other servers with the same database have accepted.",
    loadFactory: async () => (await import("./worker.ts")).createWorkerCommand,
  },
  send: {
    description: "Send a message that starts or continues a task.",
    loadFactory: async () => (await import("./send.ts")).createSendCommand,
  },
  chat: {
    description: "Chat with an agent line by line in one conversation.",
    loadFactory: async () => (await import("./chat.ts")).createChatCommand,
  },
  task: {
    description: "Manage tasks: get, wait, list, cancel, subscribe, download, push-config.",
    commands: {
      get: {
        description: "Show a task's state and artifacts.",
        loadFactory: async () => (await import("./task.ts")).createTaskGetCommand,
      },
      wait: {
        description: "Wait until a task has ended or waits for its user, and show it.",
        loadFactory: async () => (await import("./task.ts")).createTaskWaitCommand,
      },
      list: {
        description: "List tasks, newest first.",
        loadFactory: async () => (await import("./task.ts")).createTaskListCommand,
      },
      cancel: {
        description: "Cancel a task.",
        loadFactory: async () => (await import("./task.ts")).createTaskCancelCommand,
      },
      subscribe: {
        description: "Follow a task until it ends or needs input.",
        loadFactory: async () => (await import("./task.ts")).createTaskSubscribeCommand,
      },
      download: {
        description: "Save a task's artifacts as files.",
        loadFactory: async () => (await import("./task-download.ts")).createTaskDownloadCommand,
      },
      "push-config": {
        description: "Manage a task's webhooks: create, get, list, delete.",
        commands: {
          create: {
            description: "Register a webhook for a task.",
            loadFactory: async () => (await import("./push-config.ts")).createPushConfigCreateCommand,
          },
          get: {
            description: "Show one of a task's webhooks.",
            loadFactory: async () => (await import("./push-config.ts")).createPushConfigGetCommand,
          },
          list: {
            description: "List a task's webhooks.",
            loadFactory: async () => (await import("./push-config.ts")).createPushConfigListCommand,
          },
          delete: {
            description: "Delete one of a task's webhooks.",
            loadFactory: async () => (await import("./push-config.ts")).createPushConfigDeleteCommand,
          },
        },
      },
    },
  },
  webhook: {
    description: "Receive push notifications of tasks, and show them.",
    loadFactory: async () => (await import("./webhook.ts")).createWebhookCommand,
  },
  test: {
    description: "Test an agent with conversations from files, recordings, or ADK eval sets.",
    loadFactory: async () => (await import("./test.ts")).createTestCommand,
  },
  conformance: {
    description: "Check any agent against A2A 1.0 and 0.3, on all its bindings.",
    loadFactory: async () => (await import("./conformance.ts")).createConformanceCommand,
  },
  doctor: {
    description: "Check a running agent, its proxies, or a project, and show what to do.",
    loadFactory: async () => (await import("./doctor.ts")).createDoctorCommand,
  },
  card: {
    description: "Work with agent cards: get, validate, verify, sign.",
    commands: {
      get: {
        description: "Show an agent's card.",
        loadFactory: async () => (await import("./card.ts")).createCardGetCommand,
      },
      validate: {
        description: "Check an agent's card against A2A 1.0.",
        loadFactory: async () => (await import("./card.ts")).createCardValidateCommand,
      },
      verify: {
        description: "Check that a trusted key signed an agent's card.",
        loadFactory: async () => (await import("./card.ts")).createCardVerifyCommand,
      },
      sign: {
        description: "Sign a card, and print it for serving as a static file.",
        loadFactory: async () => (await import("./card-sign.ts")).createCardSignCommand,
      },
    },
  },
  cards: {
    description: "Run and inspect card protocol experiments: messages, costs, and results.",
    commands: CARDS_COMMANDS,
  },
  trace: {
    description: "Inspect traffic records: show, html, export, compare.",
    commands: TRACE_COMMANDS,
  },
  auth: {
    description:
      "Log in to agents, and create credentials for the agents that you serve: login, logout, new-key.",
    commands: {
      login: {
        description: "Log in to an agent with OAuth 2.0 or OpenID Connect, and store the token.",
        loadFactory: async () => (await import("./auth/login.ts")).createAuthLoginCommand,
      },
      logout: {
        description: "Delete stored tokens.",
        loadFactory: async () => (await import("./auth/logout.ts")).createAuthLogoutCommand,
      },
      "new-key": {
        description: "Create an API key. It is shown once; servers store only a hash.",
        loadFactory: async () => (await import("./auth/new-key.ts")).createAuthNewKeyCommand,
      },
    },
  },
  store: {
    description:
      "Maintain a task store, also while its server runs: info, backup, migrate, sweep, compact, erase.",
    commands: {
      info: {
        description: "Show the size of a task store, and which process serves it.",
        loadFactory: async () => (await import("./store/store-commands.ts")).createStoreInfoCommand,
      },
      backup: {
        description: "Copy a task store to a new file.",
        loadFactory: async () => (await import("./store/store-commands.ts")).createStoreBackupCommand,
      },
      migrate: {
        description: "Migrate a task store of an earlier version of Colloquy, before its server starts.",
        loadFactory: async () => (await import("./store/migrate.ts")).createStoreMigrateCommand,
      },
      sweep: {
        description: "Delete the tasks whose retention period has passed, in the running server.",
        loadFactory: async () => (await import("./store/store-commands.ts")).createStoreSweepCommand,
      },
      compact: {
        description: "Return the free space of a task store to the file system.",
        loadFactory: async () => (await import("./store/store-commands.ts")).createStoreCompactCommand,
      },
      erase: {
        description: "Delete one task, or all tasks of a context or a principal.",
        loadFactory: async () => (await import("./store/erase.ts")).createStoreEraseCommand,
      },
    },
  },
  init: {
    description: "Create a project with an agent, ready to serve.",
    loadFactory: async () => (await import("./init.ts")).createInitCommand,
  },
  mcp: {
    description: "Offer agents to an MCP host over stdio or HTTP, with each skill as a tool.",
    loadFactory: async () => (await import("./mcp.ts")).createMcpCommand,
  },
  tap: {
    description: "Record the traffic of any agents as a reverse proxy, and inject faults.",
    loadFactory: async () => (await import("./tap.ts")).createTapCommand,
  },
  replay: {
    description: "Serve a recorded agent from a traffic record.",
    loadFactory: async () => (await import("./replay.ts")).createReplayCommand,
  },
  console: {
    description: "Open a web page that shows, starts, and controls the tasks of agents, or shows a record.",
    loadFactory: async () => (await import("./console.ts")).createConsoleCommand,
  },
  demo: {
    description:
      "Serve demo agents without an API key: an ADK assistant, a slow writer, and a planner with its solver.",
    loadFactory: async () => (await import("./demo.ts")).createDemoCommand,
  },
  config: {
    description: "Inspect the settings: show.",
    commands: {
      show: {
        description: "Show every setting with its source. Credentials are hidden.",
        loadFactory: async () => (await import("./config-show.ts")).createConfigShowCommand,
      },
    },
  },
  completion: {
    description: "Print a shell completion script.",
    loadFactory: async () => (await import("./completion.ts")).createCompletionCommand,
  },
  info: {
    description: "Print plugin metadata for the official a2a CLI.",
    loadFactory: async () => (await import("./a2a-cli-plugin-info.ts")).createA2aCliPluginInfoCommand,
  },
};
