import { useSyncExternalStore } from 'react';

export type Store<Value> = { get: () => Value; subscribe: (listener: () => void) => () => void };

/** A value outside of React. `subscribe` calls the listener after every `set`, and returns a function to unsubscribe. */
export function createStore<Value>(value: Value): Store<Value> & { set: (next: Value) => void } {
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The value of the store; renders again when it changes. */
export const useStore = <Value>(store: Store<Value>): Value =>
  useSyncExternalStore(store.subscribe, store.get);
