/**
 * A bounded model of the lease protocol: two nodes and two tasks, with the conditions of the statements of the
 * PostgreSQL store. Appends and claims are two actions each, a send and an arrival, so that every interleaving exists.
 */

/** An append on its way to the database. */
interface PendingAppend {
  readonly task: number;
  readonly epoch: number;
  readonly seq: number;
  readonly endsTurn: boolean;
}

interface TaskState {
  readonly seq: number;
  readonly epoch: number;
  readonly isRunning: boolean;
  readonly holder: number | undefined;
}

interface NodeState {
  /** True while the node has a row. Other nodes delete the row of a silent node. */
  readonly isLeased: boolean;
  /** Epoch and sequence number that the node believes to hold, by task. */
  readonly beliefs: readonly (undefined | { readonly epoch: number; readonly seq: number })[];
  readonly pending: PendingAppend | undefined;
}

export interface ProtocolState {
  readonly tasks: readonly TaskState[];
  readonly nodes: readonly NodeState[];
}

/** Conditions of the protocol. Each can be left out to show that the exploration notices its absence. */
export interface ProtocolRules {
  readonly checksEpoch: boolean;
  readonly checksNodes: boolean;
}

export interface ProtocolStep {
  readonly name: string;
  readonly state: ProtocolState;
  /** Description of a violation, if the step breaks the protocol. */
  readonly violation?: string;
}

export const ALL_RULES: ProtocolRules = { checksEpoch: true, checksNodes: true };
/** Bounds of the state space. */
const MAX_SEQ = 2;
const MAX_EPOCH = 1;

export const FIRST_STATE: ProtocolState = {
  tasks: [0, 1].map(() => ({ seq: 0, epoch: 0, isRunning: false, holder: undefined })),
  nodes: [0, 1].map(() => ({ isLeased: true, beliefs: [undefined, undefined], pending: undefined })),
};

/** Returns all states that one step can reach. */
export function listProtocolSteps(state: ProtocolState, rules: ProtocolRules = ALL_RULES): ProtocolStep[] {
  return state.nodes.flatMap((node, at) => [
    ...listNodeSteps(state, at, node),
    ...state.tasks.flatMap((_, task) => listTaskSteps(state, at, task, rules)),
    ...(node.pending ? [deliverAppend(state, at, node.pending, rules)] : []),
  ]);
}

function listNodeSteps(state: ProtocolState, at: number, node: NodeState): ProtocolStep[] {
  return [
    { name: `n${at} is silent`, state: withNode(state, at, { isLeased: false }) },
    { name: `n${at} renews`, state: withNode(state, at, { isLeased: true }) },
    // A crash: a new process has a new row, and other nodes delete the row of the old process.
    ...(node.isLeased
      ? []
      : [{ name: `n${at} forgets`, state: withNode(state, at, { beliefs: [undefined, undefined] }) }]),
  ];
}

function listTaskSteps(state: ProtocolState, at: number, task: number, rules: ProtocolRules): ProtocolStep[] {
  const { seq, epoch, isRunning, holder } = state.tasks[task] as TaskState;
  const node = state.nodes[at] as NodeState;
  const belief = node.beliefs[task];
  const steps: ProtocolStep[] = [];
  const send = (name: string, append: PendingAppend): void =>
    void steps.push({
      name: `n${at} sends ${name} of t${task}`,
      state: withNode(state, at, { pending: append }),
    });
  if (!node.pending && seq < MAX_SEQ) {
    if (belief) {
      send("an event", { task, ...belief, endsTurn: false });
      send("the end", { task, ...belief, endsTurn: true });
    } else if (!isRunning) send("a start", { task, epoch, seq, endsTurn: false });
  }
  const isHolderAlive = holder !== undefined && (state.nodes[holder] as NodeState).isLeased;
  if (isRunning && epoch < MAX_EPOCH && !(rules.checksNodes && isHolderAlive)) {
    const claimed = withTask(state, task, { epoch: epoch + 1, holder: at });
    const violation =
      isHolderAlive && holder !== at ? { violation: `n${at} claims t${task} of the living n${holder}` } : {};
    steps.push({
      name: `n${at} claims t${task}`,
      state: withBelief(claimed, at, task, { epoch: epoch + 1, seq }),
      ...violation,
    });
    // The result of a claim can be lost. The node then does not know its lease.
    steps.push({
      name: `n${at} claims t${task} unnoticed`,
      state: withBelief(claimed, at, task, undefined),
      ...violation,
    });
  }
  const isPending = node.pending?.task === task;
  if (isRunning && holder === at && !isPending && (!belief || belief.epoch === epoch))
    steps.push({
      name: `n${at} releases t${task}`,
      state: withBelief(withTask(state, task, { holder: undefined }), at, task, undefined),
    });
  return steps;
}

/** The compare-and-set of an append. */
function deliverAppend(
  state: ProtocolState,
  at: number,
  append: PendingAppend,
  rules: ProtocolRules,
): ProtocolStep {
  const { task, epoch, seq, endsTurn } = append;
  const row = state.tasks[task] as TaskState;
  const name = `n${at} delivers an append of t${task}`;
  const idle = withNode(state, at, { pending: undefined });
  const isFenced = rules.checksEpoch && (row.epoch !== epoch || (row.isRunning && row.holder !== at));
  if (isFenced || row.seq !== seq) return { name, state: withBelief(idle, at, task, undefined) };
  const stored = withTask(idle, task, {
    seq: seq + 1,
    isRunning: !endsTurn,
    holder: endsTurn ? undefined : at,
  });
  const isForeign = row.isRunning && row.holder !== at;
  return {
    name,
    state: withBelief(stored, at, task, endsTurn ? undefined : { epoch, seq: seq + 1 }),
    ...(isForeign || row.epoch !== epoch
      ? { violation: `n${at} appends to t${task} of n${row.holder}` }
      : {}),
  };
}

function withTask(state: ProtocolState, at: number, change: Partial<TaskState>): ProtocolState {
  return { ...state, tasks: state.tasks.with(at, { ...(state.tasks[at] as TaskState), ...change }) };
}

function withNode(state: ProtocolState, at: number, change: Partial<NodeState>): ProtocolState {
  return { ...state, nodes: state.nodes.with(at, { ...(state.nodes[at] as NodeState), ...change }) };
}

function withBelief(
  state: ProtocolState,
  at: number,
  task: number,
  belief: NodeState["beliefs"][number],
): ProtocolState {
  const { beliefs } = state.nodes[at] as NodeState;
  return withNode(state, at, { beliefs: beliefs.with(task, belief) });
}

export interface ProtocolExploration {
  readonly stateCount: number;
  readonly violation: string | undefined;
  /** Number of states from which no sequence of steps ends all turns. */
  readonly stuckCount: number;
}

/** Visits every state that the protocol can reach. */
export function exploreProtocol(rules: ProtocolRules = ALL_RULES): ProtocolExploration {
  const ids = new Map<string, number>([[JSON.stringify(FIRST_STATE), 0]]);
  const states = [FIRST_STATE];
  const predecessors: number[][] = [[]];
  for (let at = 0; at < states.length; at++) {
    for (const { name, state, violation } of listProtocolSteps(states[at] as ProtocolState, rules)) {
      if (violation !== undefined)
        return { stateCount: states.length, violation: `${name}: ${violation}`, stuckCount: 0 };
      const key = JSON.stringify(state);
      let id = ids.get(key);
      if (id === undefined) {
        id = states.length;
        ids.set(key, id);
        states.push(state);
        predecessors.push([]);
      }
      predecessors[id]?.push(at);
    }
  }
  // From the states without running turns backwards. States at the bounds cannot end, and do not count.
  const canEnd = new Set<number>();
  const waiting = states.flatMap((state, at) =>
    state.tasks.every(({ isRunning, seq, epoch }) => !isRunning || seq >= MAX_SEQ || epoch >= MAX_EPOCH)
      ? [at]
      : [],
  );
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (canEnd.has(at)) continue;
    canEnd.add(at);
    waiting.push(...(predecessors[at] ?? []));
  }
  return { stateCount: states.length, violation: undefined, stuckCount: states.length - canEnd.size };
}
