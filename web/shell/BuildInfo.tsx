import classes from './BuildInfo.module.css';

/** At the bottom right of every page (spec part 1, section 2). */
export function BuildInfo() {
  return (
    <footer className={`${classes.build} screen-only`}>
      {LANYARD_VERSION} · build {LANYARD_BUILD} · {LANYARD_COMMIT}
    </footer>
  );
}
