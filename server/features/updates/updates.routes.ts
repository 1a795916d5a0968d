import { updates as calls } from '../../../contract/updates.ts';
import { implement } from '../../http/call.ts';
import { electronFeed } from './electron-feed.ts';
import type { Feeds } from './feeds.ts';
import { squirrelMacFeed, squirrelWindowsFeed } from './squirrel-feeds.ts';

export const updateRoutes = (feeds: Feeds) =>
  implement(calls, {
    electron: (call) => electronFeed(feeds, call),
    squirrelWindows: (call) => squirrelWindowsFeed(feeds, call),
    squirrelMac: (call) => squirrelMacFeed(feeds, call),
  });
