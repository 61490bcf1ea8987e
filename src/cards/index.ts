/**
 * Message cards that controllers, planners, and solvers exchange. This folder contains the message card
 * format and its encoding in A2A, recordings of experiment runs, statistics, and views.
 *
 * This glossary and the glossary of `protocol/` define the terms of this folder.
 * - card: a message card, which is a message between two roles. An agent card describes an agent.
 * - role: a sender or recipient of message cards, such as the controller, the planner, or the solver.
 * - reply: the result card or error card that ends a task. A notice is an error card that replies to no other
 *   message card.
 * - problem: the input that a controller receives. In datasets, message cards, and options, names use the
 *   word sample instead of problem.
 * - run: an experiment in which one method solves the problems of a dataset. In the folder `engine/`, a run
 *   is one turn of an agent.
 * - turn: one decision of the planner's model. An attempt is one execution of a subtask.
 * - call: a call to a language model. Exactly one message card reports the token usage of each model call.
 * - record: the lines of a run's record file. A recording is a decoded record file.
 * - evidence: the source of the answers in a run, which is a model, an oracle, or a simulation.
 * - relay: to forward the message cards of a task to the role that sent the task.
 * - specification: the original specification of message cards. Names that contain the word specification
 *   follow the original specification of message cards.
 */

export * from "./a2a/index.ts";
export * from "./datasets/index.ts";
export * from "./message-card/index.ts";
export * from "./recording/index.ts";
export * from "./scoring/index.ts";
export * from "./statistics/index.ts";
export * from "./views/index.ts";
