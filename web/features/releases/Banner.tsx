import { toneColors } from '../../ui/StatusBadge.tsx';
import classes from './edit-release.module.css';

/** Shows the result of saving inside the dialog. */
export function Banner({ tone, children }: { tone: 'teal' | 'red'; children: string }) {
  return (
    <div role={tone === 'red' ? 'alert' : 'status'} className={classes.banner} style={toneColors(tone)}>
      {children}
    </div>
  );
}
